package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.schedule.Placement;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What the numbers and the shades of slices stand for, by the placement of stages on ranks. */
final class SliceNumbers {
  private final Placement placement;
  private final boolean bothWays;
  private final int[] shades; // of every stage of every chain
  private final int mostShade;

  SliceNumbers(Placement placement) {
    this.placement = placement;
    this.bothWays = bothWays(placement);
    this.shades = new int[placement.stages()];
    int[] count = new int[placement.ranks()];
    Map<Long, Integer> shadeOf = new HashMap<>();
    int most = 0;
    for (int stage = 0; stage < shades.length; stage++) {
      int rank = placement.rankOf(stage);
      int same = bothWays ? stage : stage % placement.depth();
      Integer shade = shadeOf.get((long) rank << 32 | same);
      shades[stage] = shade == null ? count[rank]++ : shade;
      shadeOf.put((long) rank << 32 | same, shades[stage]);
      most = Math.max(most, shades[stage]);
    }
    this.mostShade = most;
  }

  private static boolean bothWays(Placement placement) {
    int stages = placement.stages();
    boolean mirrored = placement.chains() == 2;
    for (int stage = 0; mirrored && stage < stages; stage++) {
      mirrored = placement.rankOf(stage) == placement.rankOf(stages - 1 - stage);
    }
    return mirrored;
  }

  /** Whether two pipelines run through the same ranks, from both ends. */
  boolean bothWays() {
    return bothWays;
  }

  /**
   * Which of its rank's stages a slice is of, counted from 0. The same stages of several chains are
   * one, unless they are the two directions. Exchanges and transfers have one shade.
   */
  int shade(Slice slice) {
    return Look.of(slice.kind()).numbered() ? shades[slice.stage()] : 0;
  }

  /** That of a stage, counted over all chains. */
  int shade(int stage) {
    return shades[stage];
  }

  /** The highest shade; 0 where no rank has several stages. */
  int mostShade() {
    return mostShade;
  }

  /**
   * Whether the number of a slice is its stage, counted in its chain, and not its micro-batch:
   * where each rank runs all stages in turn, as workers of data parallelism do.
   */
  boolean ofStages() {
    return placement.chains() > 1 && !bothWays && mostShade > 0;
  }

  /**
   * The number that a slice shows: its stage, see {@link #ofStages}, or its micro-batch, counted in
   * its direction or, where chains take micro-batches in turn, over all chains.
   */
  int number(Slice slice) {
    boolean exchanges = slice.kind().exchanges();
    if (ofStages() && !exchanges) {
      return slice.stage() % placement.depth();
    }
    boolean ofStep = exchanges || slice.kind() == Kind.UPDATE;
    boolean inTurn = placement.chains() > 1 && !bothWays && !ofStep;
    return inTurn
        ? slice.microBatch() * placement.chains() + slice.stage() / placement.depth()
        : slice.microBatch();
  }

  /** {@code of stage 0 in direction 1, chunk 1}. */
  String where(Slice slice) {
    StringBuilder words = new StringBuilder("of stage ").append(slice.stage() % placement.depth());
    if (placement.chains() > 1) {
      words.append(bothWays ? " in direction " : " of pipeline ");
      words.append(slice.stage() / placement.depth());
    }
    if (mostShade > 0 && !bothWays) {
      words.append(", chunk ").append(shades[slice.stage()]);
    }
    return words.toString();
  }

  /** {@code stage 0 on ranks 0–3, stage 1 on ranks 4–6}, where stages have several; or empty. */
  String ranksOfStages() {
    if (placement.chains() == 1 || bothWays || mostShade > 0) {
      return "";
    }
    List<String> words = new ArrayList<>();
    for (int stage = 0; stage < placement.depth(); stage++) {
      Set<Integer> ranks = new TreeSet<>();
      for (int chain = 0; chain < placement.chains(); chain++) {
        ranks.add(placement.rankOf(chain * placement.depth() + stage));
      }
      words.add(
          "stage %d on %s %s"
              .formatted(
                  stage, ranks.size() == 1 ? "rank" : "ranks", Words.devices(List.copyOf(ranks))));
    }
    return String.join(", ", words);
  }
}
