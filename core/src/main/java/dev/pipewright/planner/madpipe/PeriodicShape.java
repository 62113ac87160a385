package dev.pipewright.planner.madpipe;

import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.planner.madpipe.PeriodicPlan.Placed;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A {@link PeriodicPlan} that nobody has priced yet: what a file says of one.
 *
 * @param period seconds after which the pattern repeats
 * @param batches of a period
 * @param stages in positions of the network's chain
 * @param ops of these stages and, between them, the transfers
 */
public record PeriodicShape(
    Discipline discipline, double period, int batches, List<Stage> stages, List<RepeatedOp> ops) {
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

    /** Of a plan, without its prices. */
    public static Stage of(Placed placed) {
      return new Stage(placed.first(), placed.end(), placed.device(), placed.again());
    }
  }

  public PeriodicShape {
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

  /** What the problem says that stages take; throws where a stage is none of its network. */
  public PeriodicPlan priced(PeriodicProblem problem) {
    List<Placed> placed = stages.stream().map(stage -> placed(problem.chain(), stage)).toList();
    List<StageLoad> loads = PeriodicPlan.loads(problem.chain(), placed);
    return new PeriodicPlan(discipline, placed, pattern(period, batches, stages, ops, loads));
  }

  /** In positions of the problem's chain. */
  private static Placed placed(LayerChain chain, Stage stage) {
    int first = position(chain, stage.first(), "a stage begins or ends");
    int end = position(chain, stage.end(), "a stage begins or ends");
    List<LayerRange> again = new ArrayList<>();
    for (LayerRange run : stage.again()) {
      int from = position(chain, run.first(), "a run of layers that run again begins or ends");
      int to = position(chain, run.last() + 1, "a run of layers that run again begins or ends");
      again.add(new LayerRange(from, to - 1));
    }
    Optional<Choice> fewer =
        again.isEmpty() ? Optional.empty() : Optional.of(chain.given(first, end, again));
    return new Placed(first, end, stage.device(), fewer);
  }

  private static int position(LayerChain chain, int layer, String what) {
    for (int position = 0; position <= chain.layers(); position++) {
      if (chain.inNetwork(position) == layer) {
        return position;
      }
    }
    throw new IllegalArgumentException(
        "%s at %d, where branches run side by side or there is no layer; begin it elsewhere"
            .formatted(what, layer));
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
