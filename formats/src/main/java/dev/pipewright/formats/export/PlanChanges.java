package dev.pipewright.formats.export;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.ScheduleSpec;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.ScheduleInput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Plans that differ from others in one part; empty where such a plan contradicts itself. */
public final class PlanChanges {
  private PlanChanges() {}

  /**
   * The schedule of a name: a policy, or what the catalogue makes of these numbers; empty where
   * there is none.
   */
  public static Optional<ScheduleSpec> schedule(
      String name, int ranks, int chunks, int microBatches) {
    Optional<PipelinePolicy> policy = PipelinePolicy.find(name);
    if (policy.isPresent()) {
      return Optional.of(policy.get());
    }
    try {
      return ScheduleCatalog.find(name)
          .filter(entry -> entry.isSynchronousPipeline() && !entry.needsDurations())
          .map(entry -> made(entry, ranks, chunks, microBatches));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // the schedule cannot have so many
    }
  }

  private static ScheduleSpec made(ScheduleEntry entry, int ranks, int chunks, int microBatches) {
    return FixedOrder.of(
        entry.make(ScheduleInput.counts(ranks, microBatches, chunks)).named(entry.name()));
  }

  /** Whether a plan's ranks do the same work in the same order as under another schedule. */
  static boolean runs(PipelinePlan plan, ScheduleSpec other) {
    int stages = plan.stages().size();
    if (plan.spec().equals(other) && other instanceof FixedOrder) {
      return true;
    }
    if (other instanceof FixedOrder fixed && fixed.stages() != stages) {
      return false;
    }
    if (!plan.placement().equals(other.placement(stages))) {
      return false;
    }
    if (plan.spec() instanceof PipelinePolicy && other instanceof PipelinePolicy) {
      int[] usual = other.inFlight(stages, plan.microBatches());
      return Arrays.equals(plan.inFlight(), usual);
    }
    var own = plan.schedule();
    var that = other.schedule(plan.microBatches(), other.inFlight(stages, plan.microBatches()));
    return IntStream.range(0, own.ranks())
        .allMatch(rank -> Arrays.equals(own.packed(rank), that.packed(rank)));
  }

  /**
   * The plan under another schedule whose stages are these; each stage has the devices of its rank.
   */
  static Optional<PipelinePlan> under(
      ScheduleSpec spec, PipelinePlan plan, List<StagePlan> stages) {
    List<List<Integer>> devices = plan.devicesByRank();
    return checked(() -> {
      int[] inFlight = spec.inFlight(stages.size(), plan.microBatches());
      List<StagePlan> made = new ArrayList<>();
      for (int s = 0; s < stages.size(); s++) {
        List<Integer> own = devices.get(spec.placement(stages.size()).rankOf(s));
        made.add(on(stages.get(s), own, stages.get(s).parallelism(), inFlight[s]));
      }
      return new PipelinePlan(
          spec,
          plan.microBatches(),
          plan.microBatch(),
          plan.replicas(),
          plan.overlapGradients(),
          made,
          plan.sharding());
    });
  }

  /** Stages joined so that each rank has one, in order. */
  static List<StagePlan> joined(PipelinePlan plan) {
    int ranks = plan.placement().ranks();
    int each = plan.stages().size() / ranks;
    List<StagePlan> joined = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      List<StagePlan> parts = plan.stages().subList(rank * each, (rank + 1) * each);
      StagePlan first = parts.get(0);
      int last = parts.get(parts.size() - 1).lastLayer();
      List<LayerRange> runs = parts.stream().flatMap(s -> s.recomputed().stream()).toList();
      joined.add(
          new StagePlan(
                  first.firstLayer(),
                  last,
                  first.devices(),
                  first.parallelism(),
                  Recompute.NONE,
                  first.inFlight(),
                  List.of())
              .selective(runs));
    }
    return joined;
  }

  /** A stage on other devices. */
  static StagePlan on(
      StagePlan stage, List<Integer> devices, Parallelism parallelism, int inFlight) {
    return new StagePlan(
        stage.firstLayer(),
        stage.lastLayer(),
        devices,
        parallelism,
        stage.recompute(),
        inFlight,
        stage.again());
  }

  /** The plan with other micro-batches of the same step, under a schedule of the same name. */
  static Optional<PipelinePlan> batched(PipelinePlan plan, int microBatches, int microBatch) {
    int ranks = plan.placement().ranks();
    int chunks = plan.placement().depth() / ranks;
    return schedule(plan.spec().scheduleName(), ranks, chunks, microBatches)
        .flatMap(spec ->
            checked(() -> {
              int[] inFlight = spec.inFlight(plan.stages().size(), microBatches);
              List<StagePlan> stages = new ArrayList<>();
              for (StagePlan stage : plan.stages()) {
                int held = inFlight[stages.size()];
                stages.add(on(stage, stage.devices(), stage.parallelism(), held));
              }
              return new PipelinePlan(
                  spec,
                  microBatches,
                  microBatch,
                  1,
                  plan.overlapGradients(),
                  stages,
                  plan.sharding());
            }));
  }

  /** Devices {@code first} to {@code first + count − 1}. */
  static List<Integer> devices(int first, int count) {
    return IntStream.range(first, first + count).boxed().toList();
  }

  /** What is made; empty where its parts do not go together. */
  static Optional<PipelinePlan> checked(Supplier<PipelinePlan> made) {
    try {
      return Optional.of(made.get());
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
