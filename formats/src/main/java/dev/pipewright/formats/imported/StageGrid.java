package dev.pipewright.formats.imported;

import dev.pipewright.formats.export.PlanChanges;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.ScheduleSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;

/**
 * Stages on a grid of devices: pipeline ranks × data × tensor.
 *
 * @param file that says it
 * @param ranks pipeline ranks, each with as many devices
 * @param perRank devices of each
 * @param ends the last layer of each stage, as positions of the network's chain
 * @param divisions how the devices of each stage divide its layers
 * @param byReplica whether devices are numbered pipeline by pipeline, otherwise rank by rank
 */
record StageGrid(
    Path file,
    int ranks,
    int perRank,
    List<Integer> ends,
    List<Parallelism> divisions,
    boolean byReplica) {
  StageGrid {
    ends = List.copyOf(ends);
    divisions = List.copyOf(divisions);
  }

  /**
   * A step.
   *
   * @param samples of a micro-batch on each data-parallel rank of the first stage
   */
  record Batching(int microBatches, int samples) {
    /** The same where so many of these ranks are one of the plan's. */
    Batching together(int ranks) {
      return new Batching(microBatches, Math.multiplyExact(samples, ranks));
    }
  }

  /**
   * What devices hold.
   *
   * @param recomputed runs of layers of each stage
   */
  record Keeping(boolean overlaps, ZeroStage sharding, List<List<LayerRange>> recomputed) {
    Keeping {
      recomputed = List.copyOf(recomputed);
    }
  }

  /** Throws {@link BadInputException} where the file does not say devices and the user neither. */
  static int devices(Path file, OptionalInt devices, String what) {
    return devices.orElseThrow(() ->
        BadInputException.in(
            file, "%s do not say how many devices run them; add --cluster".formatted(what)));
  }

  /**
   * Stages of a decoder with so many blocks each, the embedding in the first, the head in the last.
   */
  static List<Integer> ends(List<Integer> blocks) {
    List<Integer> ends = new ArrayList<>();
    int last = 0;
    for (int count : blocks) {
      last += count;
      ends.add(last);
    }
    ends.set(ends.size() - 1, last + 1);
    return ends;
  }

  /** Blocks shared out evenly over stages. */
  static List<Integer> even(int blocks, int stages) {
    return Collections.nCopies(stages, blocks / stages);
  }

  int first(int stage) {
    return stage == 0 ? 0 : ends.get(stage - 1) + 1;
  }

  /** The plan; throws {@link BadInputException} where its parts do not go together. */
  PipelinePlan plan(String schedule, Batching batching, Keeping keeping) {
    int stages = ends.size();
    ScheduleSpec spec =
        PlanChanges.schedule(schedule, ranks, stages / ranks, batching.microBatches)
            .orElseThrow(() ->
                BadInputException.in(
                    file,
                    "%s has no order of %d micro-batches for %d stages on %d ranks; correct one of them"
                        .formatted(schedule, batching.microBatches, stages, ranks)));
    try {
      return plan(spec, batching, keeping);
    } catch (IllegalArgumentException e) {
      throw BadInputException.in(
          file, "its parts do not make a plan: " + e.getMessage() + "; correct them");
    }
  }

  private PipelinePlan plan(ScheduleSpec spec, Batching batching, Keeping keeping) {
    int stages = ends.size();
    Placement placement = spec.placement(stages);
    int[] inFlight = spec.inFlight(stages, batching.microBatches);
    List<StagePlan> made = new ArrayList<>();
    for (int s = 0; s < stages; s++) {
      Parallelism division = divisions.get(s);
      StagePlan stage =
          new StagePlan(
              first(s),
              ends.get(s),
              devices(placement.rankOf(s), division.parts()),
              division,
              Recompute.NONE,
              inFlight[s],
              List.of());
      made.add(stage.selective(keeping.recomputed.get(s)));
    }
    boolean sums =
        made.stream()
            .anyMatch(stage -> stage.replicas() > 1 || stage.parallelism().sharesWeights());
    int data = perRank / divisions.get(0).parts();
    int replicas = byReplica ? data : 1;
    return new PipelinePlan(
        spec,
        batching.microBatches,
        Math.multiplyExact(batching.samples, data / replicas),
        replicas,
        keeping.overlaps && sums,
        made,
        keeping.sharding);
  }

  private List<Integer> devices(int rank, int tensor) {
    List<Integer> devices = new ArrayList<>();
    for (int i = 0; i < perRank; i++) {
      devices.add(
          byReplica ? (i / tensor * ranks + rank) * tensor + i % tensor : rank * perRank + i);
    }
    return devices;
  }
}
