package dev.pipewright.formats.export;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Limits of frameworks whose devices form a grid: pipeline ranks × data × tensor. */
final class GridRules {
  private GridRules() {}

  /** The network is a decoder, of which a framework counts the blocks. */
  static ExportRule decoder() {
    return exported ->
        exported.isDecoder()
            ? Optional.empty()
            : Optional.of(
                new Gap(
                    "%s, which is no decoder of transformer blocks (`--to torch` and `--to sbatch` take any network)"
                        .formatted(exported.model()),
                    Optional.empty()));
  }

  /** The plan has no layers of multi-token prediction. */
  static ExportRule withoutPrediction() {
    return exported ->
        exported.isDecoder() && exported.predictions() > 0
            ? Optional.of(
                new Gap(
                    "layers of multi-token prediction (`--to megatron` has them)",
                    Optional.empty()))
            : Optional.empty();
  }

  /**
   * Devices divide layers in one of these ways only, or in copies where context parallelism is
   * among them; the first is the nearest to all others.
   */
  static ExportRule kinds(List<Kind> known) {
    return exported -> {
      PipelinePlan plan = exported.plan();
      Set<String> other =
          plan.stages().stream()
              .map(StagePlan::parallelism)
              .filter(parallelism -> !knows(known, parallelism))
              .map(Parallelism::word)
              .collect(Collectors.toSet());
      if (other.isEmpty()) {
        return Optional.empty();
      }
      String words = other.stream().sorted().collect(Collectors.joining(" and "));
      boolean tensor = exported.isDecoder() && !known.isEmpty();
      return Optional.of(
          new Gap(
              words
                  + " parallelism"
                  + (known.isEmpty()
                      ? " (it divides no layers)"
                      : " (it divides layers by %s parallelism)"
                          .formatted(
                              known.stream().map(Kind::word).collect(Collectors.joining(" or ")))),
              PlanChanges.checked(() ->
                  plan.with(
                      plan.stages().stream()
                          .map(s ->
                              knows(known, s.parallelism())
                                  ? s
                                  : s.with(
                                      tensor
                                          ? Parallelism.of(known.get(0), s.parallelism().parts())
                                          : Parallelism.NONE))
                          .toList()))));
    };
  }

  private static boolean knows(List<Kind> known, Parallelism parallelism) {
    boolean copies = parallelism.copies() == 1 || known.contains(Kind.CONTEXT);
    return !parallelism.several() || (known.contains(parallelism.kind()) && copies);
  }

  /**
   * All pipeline ranks have as many devices.
   *
   * @param tensorToo whether these divide layers alike, too
   */
  static ExportRule equalRanks(boolean tensorToo) {
    return exported -> {
      List<StagePlan> stages = exported.plan().stages();
      boolean devices = stages.stream().map(s -> s.devices().size()).distinct().count() == 1;
      boolean division = stages.stream().map(StagePlan::parallelism).distinct().count() == 1;
      if (devices && (division || !tensorToo)) {
        return Optional.empty();
      }
      return Optional.of(
          new Gap(
              devices
                  ? "different tensor-parallel degrees of stages (%s)"
                      .formatted(exported.plan().summary())
                  : "different numbers of devices of stages (%s)"
                      .formatted(exported.plan().summary()),
              equal(exported.plan())));
    };
  }

  /** As many devices for each rank, with the division that most of them have. */
  private static Optional<PipelinePlan> equal(PipelinePlan plan) {
    List<List<Integer>> byRank = plan.devicesByRank();
    int each = plan.devices() / byRank.size();
    Map<Parallelism, Integer> devices = new HashMap<>();
    for (StagePlan stage : plan.stages()) {
      if (each > 0 && each % stage.parallelism().parts() == 0) {
        devices.merge(stage.parallelism(), stage.devices().size(), Integer::sum);
      }
    }
    Parallelism most = Parallelism.NONE;
    for (StagePlan stage : plan.stages()) { // the first of equals
      int own = devices.getOrDefault(stage.parallelism(), 0);
      most = own > devices.getOrDefault(most, 0) ? stage.parallelism() : most;
    }
    Parallelism division = most;
    return PlanChanges.checked(() -> numbered(plan, each, division));
  }

  private static PipelinePlan numbered(PipelinePlan plan, int each, Parallelism division) {
    List<StagePlan> stages = new ArrayList<>();
    for (int s = 0; s < plan.stages().size(); s++) {
      StagePlan stage = plan.stages().get(s);
      List<Integer> own = PlanChanges.devices(plan.placement().rankOf(s) * each, each);
      stages.add(PlanChanges.on(stage, own, division, stage.inFlight()));
    }
    return new PipelinePlan(
        plan.spec(),
        plan.microBatches(),
        plan.microBatching(),
        1,
        plan.overlapGradients(),
        stages,
        plan.sharding());
  }

  /**
   * Pipeline rank by pipeline rank, devices are numbered from 0 on.
   *
   * @param replicasToo whether a framework can also number the pipelines one by one
   */
  static ExportRule consecutive(boolean replicasToo) {
    return exported -> {
      boolean together = exported.parallelism().sampleParts() > 1; // in the same stage
      if (isConsecutive(exported) || (replicasToo && !together && isByReplica(exported))) {
        return Optional.empty();
      }
      PipelinePlan plan = exported.plan();
      List<StagePlan> stages = new ArrayList<>();
      for (int s = 0; s < plan.stages().size(); s++) {
        StagePlan stage = plan.stages().get(s);
        int each = stage.devices().size();
        List<Integer> own = PlanChanges.devices(plan.placement().rankOf(s) * each, each);
        stages.add(PlanChanges.on(stage, own, stage.parallelism(), stage.inFlight()));
      }
      return Optional.of(
          new Gap(
              "the order of the plan's devices (it numbers them rank by rank from 0 on)",
              PlanChanges.checked(() -> plan.with(stages))));
    };
  }

  static boolean isConsecutive(ExportSubject exported) {
    List<List<Integer>> byRank = exported.plan().devicesByRank();
    for (int rank = 0; rank < byRank.size(); rank++) {
      int each = byRank.get(rank).size();
      if (!byRank.get(rank).equals(PlanChanges.devices(rank * each, each))) {
        return false;
      }
    }
    return true;
  }

  /** Whether each data-parallel replica has devices of its own that follow each other. */
  static boolean isByReplica(ExportSubject exported) {
    List<List<Integer>> byRank = exported.plan().devicesByRank();
    int tensor = exported.tensor();
    for (int rank = 0; rank < byRank.size(); rank++) {
      List<Integer> own = byRank.get(rank);
      for (int i = 0; i < own.size(); i++) {
        int replica = i / tensor;
        if (own.get(i) != (replica * byRank.size() + rank) * tensor + i % tensor) {
          return false;
        }
      }
    }
    return true;
  }

  /** Each data-parallel rank of a stage gets as many whole samples of a micro-batch. */
  static ExportRule wholeSamples() {
    return exported -> {
      PipelinePlan plan = exported.plan();
      Optional<StagePlan> uneven =
          plan.stages().stream()
              .filter(stage -> plan.microBatching() % stage.replicas() != 0)
              .findFirst();
      return uneven.map(stage ->
          new Gap(
              "micro-batches of %d samples that %d data-parallel ranks do not divide"
                  .formatted(plan.microBatching(), stage.replicas()),
              whole(plan)));
    };
  }

  /** The nearest size of micro-batches that all stages divide, for the same global batch. */
  private static Optional<PipelinePlan> whole(PipelinePlan plan) {
    long batch = plan.globalBatch();
    int best = 0;
    for (int size = 1; size <= Math.min(batch, 1 << 20); size++) {
      int samples = size;
      boolean divides =
          batch % size == 0
              && plan.stages().stream().allMatch(stage -> samples % stage.replicas() == 0);
      boolean nearer =
          Math.abs(size - plan.microBatching()) < Math.abs(best - plan.microBatching());
      best = divides && (best == 0 || nearer) ? size : best;
    }
    return best == 0 ? Optional.empty() : PlanChanges.batched(plan, (int) (batch / best), best);
  }

  /** Every stage of a decoder has a block. */
  static ExportRule blocksEverywhere() {
    return exported -> {
      int stages = exported.plan().stages().size();
      int without = -1;
      for (int s = stages - 1; s >= 0; s--) {
        without = exported.blocks(s) == 0 ? s : without;
      }
      return without < 0
          ? Optional.empty()
          : Optional.of(
              new Gap(
                  "stage %d, which has no transformer block".formatted(without), spread(exported)));
    };
  }

  /** Boundaries moved as little as gives each stage a block. */
  private static Optional<PipelinePlan> spread(ExportSubject exported) {
    PipelinePlan plan = exported.plan();
    int stages = plan.stages().size();
    if (stages > exported.blocks()) {
      return Optional.empty();
    }
    int[] end = new int[stages + 1]; // blocks before each stage's end
    for (int s = 0; s < stages; s++) {
      end[s + 1] = Math.max(end[s] + 1, exported.firstBlock(s) + exported.blocks(s));
    }
    for (int s = stages; s > 0; s--) {
      end[s] = Math.min(end[s], exported.blocks() - (stages - s));
    }
    return PlanChanges.checked(() -> {
      List<StagePlan> made = new ArrayList<>();
      for (int s = 0; s < stages; s++) {
        StagePlan old = plan.stages().get(s);
        int first = s == 0 ? 0 : end[s] + 1;
        int last = s == stages - 1 ? plan.layers() - 1 : end[s + 1];
        boolean whole = old.recompute().wholeStage();
        made.add(
            new StagePlan(
                first,
                last,
                old.devices(),
                old.parallelism(),
                whole ? old.recompute() : dev.pipewright.plan.Recompute.NONE,
                old.inFlight(),
                List.of()));
      }
      return plan.with(made);
    });
  }
}
