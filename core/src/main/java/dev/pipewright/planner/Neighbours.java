package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;

/** Layouts on all devices of a cluster that differ from another one in one or two numbers. */
final class Neighbours {
  private static final int ROUNDS = 4; // micro-batches of a rank where a search begins

  private final StageCosts costs;
  private final Request request;
  private final List<Choice> choices;
  private final List<Parallelism> kinds;
  private final List<MicroBatching> batchings;
  private final int runs; // of layers that stages consist of
  private final int devices;

  /**
   * Of layouts on a cluster.
   *
   * @param choices of schedules, that of a single stage first
   * @param runs of layers that stages consist of
   * @param microBatches exactly so many; any number where empty
   */
  Neighbours(
      StageCosts costs, Request request, List<Choice> choices, int runs, OptionalInt microBatches) {
    this.costs = costs;
    this.request = request;
    this.choices = choices;
    this.kinds = GridKinds.of(costs.workload());
    this.runs = runs;
    this.devices = cluster().size();
    this.batchings =
        MicroBatching.of(request, devices).stream()
            .filter(each -> microBatches.orElse(each.microBatches()) == each.microBatches())
            .toList();
  }

  private Cluster cluster() {
    return costs.workload().cluster();
  }

  /**
   * Where a search begins besides known plans: data parallelism and pipelines of ever more ranks,
   * of whole layers and of layers that all devices of a machine divide.
   */
  List<PipelineLayout> usual() {
    Set<PipelineLayout> found = new LinkedHashSet<>();
    for (Parallelism kind : List.of(kinds.get(0), kinds.get(widest()))) {
      int groups = devices / kind.parts();
      for (int ranks = 1; ranks <= Math.min(groups, runs); ranks++) {
        if (groups % ranks == 0) {
          PipelineLayout layout =
              new PipelineLayout(
                  choices.get(0),
                  Grid.of(ranks, groups / ranks, kind, choices.get(0).chunks()),
                  batchings.get(0));
          int wanted = ranks == 1 ? 1 : ROUNDS * ranks;
          states(layout).stream()
              .flatMap(each -> withAbout(each, wanted).stream())
              .forEach(found::add);
        }
      }
    }
    return List.copyOf(found);
  }

  private int widest() {
    int machine = cluster().groups().get(0).get(0);
    int widest = 0;
    for (int i = 0; i < kinds.size(); i++) {
      int parts = kinds.get(i).parts();
      widest = parts <= machine && parts > kinds.get(widest).parts() ? i : widest;
    }
    return widest;
  }

  /** The layouts of plans as they are on all devices of this cluster. */
  List<PipelineLayout> here(List<PipelinePlan> plans) {
    return plans.stream()
        .flatMap(plan -> PipelineLayout.of(plan).stream())
        .flatMap(this::quick)
        .flatMap(layout -> here(layout).stream())
        .distinct()
        .toList();
  }

  /** With schedules that follow from counts and have as many chunks, where its own does not. */
  private Stream<PipelineLayout> quick(PipelineLayout layout) {
    return layout.choice().entry().needsDurations()
        ? choices.stream()
            .filter(each -> !each.entry().needsDurations())
            .filter(each -> each.chunks() == layout.choice().chunks())
            .map(layout::with)
        : Stream.of(layout);
  }

  /**
   * A layout as it is on all devices of this cluster, with as many micro-batches as before or about
   * as many; empty where it cannot be.
   */
  private Optional<PipelineLayout> here(PipelineLayout layout) {
    int parts = layout.grid().parallelism().parts();
    if (devices % parts != 0) {
      return Optional.empty();
    }
    int groups = devices / parts;
    int ranks = Math.min(layout.grid().ranks(), groups);
    while (groups % ranks != 0) {
      ranks--;
    }
    Set<PipelineLayout> found = new LinkedHashSet<>();
    addGrid(layout, ranks, groups / ranks, found);
    PipelineLayout here = found.iterator().next();
    return withAbout(here, layout.batching().microBatches());
  }

  /** With a number of micro-batches, or the nearest that is possible. */
  private Optional<PipelineLayout> withAbout(PipelineLayout layout, int wanted) {
    return batchings.stream()
        .sorted(
            Comparator.comparingDouble(
                each -> Math.abs(Math.log((double) each.microBatches() / wanted))))
        .map(layout::with)
        .map(PipelineLayout::suited)
        .filter(this::isAllowed)
        .findFirst();
  }

  /** Those of a layout: first those that change how devices share work, other schedules last. */
  List<PipelineLayout> of(PipelineLayout layout) {
    Set<PipelineLayout> found = new LinkedHashSet<>();
    addMicroBatches(layout, found);
    addStates(layout, found);
    addDevices(layout, found);
    addSchedules(layout, found);
    return allowed(found).stream().filter(each -> !each.equals(layout)).toList();
  }

  private void addMicroBatches(PipelineLayout layout, Set<PipelineLayout> found) {
    int at = batchings.indexOf(layout.batching());
    for (int next : new int[] {at + 1, at - 1}) {
      if (at >= 0 && next >= 0 && next < batchings.size()) {
        found.add(layout.with(batchings.get(next)));
      }
    }
  }

  private void addStates(PipelineLayout layout, Set<PipelineLayout> found) {
    found.addAll(states(layout));
    Grid grid = layout.grid();
    Arrangement.of(cluster(), grid.ranks(), grid.replicas())
        .forEach(other -> found.add(layout.with(grid.with(other))));
  }

  private static List<PipelineLayout> states(PipelineLayout layout) {
    Grid grid = layout.grid();
    if (!grid.sums()) {
      return List.of(layout.with(grid.sharding(ZeroStage.NOTHING)));
    }
    List<PipelineLayout> found = new ArrayList<>();
    found.add(layout.with(grid.sharding(ZeroStage.OPTIMIZER)));
    if (grid.ranks() == 1) {
      found.add(layout.with(grid.sharding(ZeroStage.PARAMETERS)));
    }
    return found;
  }

  /** Twice or half as much of one kind of parallelism, and half or twice as much of another. */
  private void addDevices(PipelineLayout layout, Set<PipelineLayout> found) {
    Grid grid = layout.grid();
    if (grid.replicas() % 2 == 0) {
      addGrid(layout, grid.ranks() * 2, grid.replicas() / 2, found);
    }
    if (grid.ranks() % 2 == 0) {
      addGrid(layout, grid.ranks() / 2, grid.replicas() * 2, found);
    }
    int parts = grid.parallelism().parts();
    for (Parallelism kind : kinds) {
      PipelineLayout other = layout.with(grid.with(kind));
      if (kind.parts() == parts) {
        addGrid(other, grid.ranks(), grid.replicas(), found);
      } else if (kind.parts() == 2 * parts) {
        addGrid(other, grid.ranks(), grid.replicas() / 2, found);
        addGrid(other, grid.ranks() / 2, grid.replicas(), found);
      } else if (kind.parts() * 2 == parts) {
        addGrid(other, grid.ranks(), grid.replicas() * 2, found);
        addGrid(other, grid.ranks() * 2, grid.replicas(), found);
      }
    }
  }

  /** With as many chunks as there are layers for, and states that can be sharded so. */
  private void addGrid(PipelineLayout layout, int ranks, int replicas, Set<PipelineLayout> found) {
    if (ranks < 1 || replicas < 1) {
      return;
    }
    boolean fewer = ranks == 1 || ranks * layout.choice().chunks() > runs;
    PipelineLayout resized =
        layout
            .with(layout.grid().resized(ranks, replicas))
            .with(fewer ? choices.get(0) : layout.choice());
    List<PipelineLayout> states = states(resized);
    PipelineLayout next = states.contains(resized) ? resized : states.get(0);
    double less = (double) layout.grid().replicas() / replicas;
    int alike = (int) Math.round(layout.batching().microBatches() * less); // samples of a replica
    withAbout(next, Math.max(1, alike)).ifPresent(found::add);
    found.add(next);
  }

  /** The same schedule with more or fewer chunks, then others of as many chunks or as few. */
  private void addSchedules(PipelineLayout layout, Set<PipelineLayout> found) {
    if (layout.grid().ranks() == 1) {
      return;
    }
    List<Choice> same =
        choices.stream()
            .filter(each -> each.entry().name().equals(layout.choice().entry().name()))
            .toList();
    int at = same.indexOf(layout.choice());
    for (int next : new int[] {at + 1, at - 1}) {
      if (next >= 0 && next < same.size()) {
        found.add(layout.with(same.get(next)));
      }
    }
    for (Choice each : choices) {
      boolean alike = each.chunks() == layout.choice().chunks();
      if (!each.entry().needsDurations() && (alike || each.chunks() == each.entry().chunks())) {
        found.add(layout.with(each));
      }
    }
  }

  private List<PipelineLayout> allowed(Set<PipelineLayout> layouts) {
    return layouts.stream().map(PipelineLayout::suited).filter(this::isAllowed).distinct().toList();
  }

  private boolean isAllowed(PipelineLayout layout) {
    Grid grid = layout.grid();
    MicroBatching batching = layout.batching();
    return layout.devices() == devices
        && batchings.contains(batching)
        && kinds.contains(grid.parallelism())
        && request.allows(grid.ranks())
        && grid.stages() <= runs
        && grid.replicas() <= batching.samples();
  }
}
