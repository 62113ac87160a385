package dev.pipewright.predict.transformer.search;

import java.util.List;

/**
 * What a search found.
 *
 * @param count of layouts
 * @param best the fastest that fit, at most ten, the fastest first; of layouts that differ in ZeRO
 *     stage and offloading alone there is only the best
 * @param front layouts that fit and that no other excels in both time and memory, the fastest
 *     first; empty after a pruned search
 * @param heat the fastest for each pair of tensor and pipeline parallelism; empty after a pruned
 *     search
 */
public record LayoutSurvey(
    SearchSpace space,
    SearchCount count,
    List<RankedLayout> best,
    List<RankedLayout> front,
    List<HeatCell> heat) {
  public LayoutSurvey {
    best = List.copyOf(best);
    front = List.copyOf(front);
    heat = List.copyOf(heat);
  }
}
