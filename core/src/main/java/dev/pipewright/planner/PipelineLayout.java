package dev.pipewright.planner;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** An equal pipeline before its cuts: how it uses devices, its schedule and its micro-batches. */
record PipelineLayout(Choice choice, Grid grid, MicroBatching batching) {
  /** Of a plan; empty where its ranks differ in their number of devices or how these share work. */
  static Optional<PipelineLayout> of(PipelinePlan plan) {
    List<List<Integer>> devices = plan.devicesByRank();
    Parallelism parallelism = plan.stages().get(0).parallelism();
    boolean alike =
        devices.stream().map(List::size).distinct().count() == 1
            && plan.stages().stream().map(StagePlan::parallelism).allMatch(parallelism::equals);
    Placement placement = plan.placement();
    Optional<ScheduleEntry> entry =
        ScheduleCatalog.find(plan.spec().scheduleName())
            .filter(ScheduleEntry::isSynchronousPipeline);
    if (!alike || entry.isEmpty() || placement.depth() % placement.ranks() != 0) {
      return Optional.empty();
    }
    int chunks = placement.depth() / placement.ranks();
    int replicas = devices.get(0).size() / parallelism.parts();
    Grid byRank =
        new Grid(
            placement.ranks(), replicas, parallelism, Arrangement.BY_RANK, chunks, plan.sharding());
    Arrangement arrangement =
        Arrays.stream(Arrangement.values())
            .filter(each -> byRank.with(each).devices(0).equals(devices.get(0)))
            .findFirst()
            .orElse(Arrangement.BY_RANK);
    return Optional.of(
        new PipelineLayout(
            new Choice(entry.get(), chunks),
            byRank.with(arrangement),
            new MicroBatching(1, plan.microBatching(), plan.microBatches())));
  }

  int devices() {
    return grid.ranks() * grid.replicas() * grid.parallelism().parts();
  }

  PipelineLayout with(Choice other) {
    return new PipelineLayout(other, grid.of(other.chunks()), batching);
  }

  /** The same as {@linkplain Grid#suited suits} its micro-batches. */
  PipelineLayout suited() {
    return with(grid.suited(batching.samples()));
  }

  PipelineLayout with(Grid other) {
    return new PipelineLayout(choice, other, batching);
  }

  PipelineLayout with(MicroBatching other) {
    return new PipelineLayout(choice, grid, other);
  }
}
