package dev.pipewright.plan;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Check;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A pipeline without flushes whose order of work is a pattern that repeats for ever; a device may
 * have several stages.
 *
 * @param discipline how batches follow each other
 * @param microBatch samples of a mini-batch
 * @param period seconds after which the pattern repeats
 * @param batches of a period
 * @param stages in positions of the network's chain
 * @param ops of these stages and, between them, the transfers
 */
public record PatternPlan(
    Discipline discipline,
    int microBatch,
    double period,
    int batches,
    List<Stage> stages,
    List<RepeatedOp> ops)
    implements Plan {
  /**
   * Layers {@code first..end-1} on a device.
   *
   * @param again those that run again before their backward passes, in order
   */
  public record Stage(int first, int end, int device, List<LayerRange> again) {
    public Stage {
      again = List.copyOf(again);
    }

    /** All is kept. */
    public Stage(int first, int end, int device) {
      this(first, end, device, List.of());
    }

    /** What it gives up after the forward pass. */
    public Recompute recompute() {
      if (again.isEmpty()) {
        return Recompute.NONE;
      }
      return again.equals(List.of(new LayerRange(first, end - 1)))
          ? Recompute.STAGE_INPUT
          : Recompute.SELECTIVE;
    }
  }

  public PatternPlan {
    Check.that(microBatch >= 1, "a mini-batch has samples: micro_batch=%d", microBatch);
    stages = inOrder(stages);
    ops = List.copyOf(ops);
    StageLoad none = new StageLoad(0, 0, 0, 0);
    pattern(period, batches, stages, ops, Collections.nCopies(2 * stages.size() - 1, none));
  }

  /** The stages, each of which has to follow the one before, on another device. */
  public static List<Stage> inOrder(List<Stage> stages) {
    Check.that(!stages.isEmpty(), "a plan has stages: stages=%d", stages.size());
    int end = 0;
    for (int s = 0; s < stages.size(); s++) {
      Stage stage = stages.get(s);
      Check.that(
          stage.first() == end,
          "stages[%d] begins at layer %d, but the one before ends at %d; let it begin at %d",
          s,
          stage.first(),
          end - 1,
          end);
      Check.that(
          stage.end() > stage.first(), "stages[%d] ends before it begins; give it layers", s);
      Check.that(
          s == 0 || stage.device() != stages.get(s - 1).device(),
          "stages[%d] and the one before are both on device %d; make them one stage",
          s,
          stage.device());
      end = stage.end();
    }
    return List.copyOf(stages);
  }

  /** The pattern of stages that take so much, transfers between them. */
  public Pattern pattern(List<StageLoad> loads) {
    return pattern(period, batches, stages, ops, loads);
  }

  /** {@code [0..4]@0 [5..8]@1 [9..12]@0}: layers and device of each stage. */
  @Override
  public String summary() {
    return stages.stream()
        .map(stage -> "[%d..%d]@%d".formatted(stage.first(), stage.end() - 1, stage.device()))
        .collect(Collectors.joining(" "));
  }

  private static Pattern pattern(
      double period, int batches, List<Stage> stages, List<RepeatedOp> ops, List<StageLoad> loads) {
    return Pattern.of(placement(stages), loads, period, batches, ops);
  }

  /** Devices, then a link for each two of them that anything passes between. */
  private static Placement placement(List<Stage> stages) {
    int devices = stages.stream().mapToInt(Stage::device).max().orElse(0) + 1;
    Map<List<Integer>, Integer> links = new HashMap<>();
    int[] ranks = new int[2 * stages.size() - 1];
    for (int i = 0; i < ranks.length; i++) {
      int one = stages.get(i / 2).device();
      int other = stages.get((i + 1) / 2).device();
      List<Integer> ends = List.of(Math.min(one, other), Math.max(one, other));
      ranks[i] = i % 2 == 0 ? one : links.computeIfAbsent(ends, key -> devices + links.size());
    }
    return Placement.of(devices + links.size(), 1, ranks);
  }
}
