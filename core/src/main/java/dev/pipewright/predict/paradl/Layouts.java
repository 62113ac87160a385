package dev.pipewright.predict.paradl;

import dev.pipewright.plan.Recompute;
import dev.pipewright.predict.paradl.Strategy.Split;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** The ways to arrange devices under a strategy that the formulas are asked about. */
final class Layouts {
  private static final int SEGMENTS_PER_STAGE = 4;

  /** Samples of a micro-batch, beyond which no run trains. */
  private static final int MOST_SAMPLES = 1 << 20;

  private final Setting setting;
  private final StrategyLimits limits;
  private final int node; // devices

  Layouts(Setting setting, StrategyLimits limits) {
    this.setting = setting;
    this.limits = limits;
    this.node = setting.workload().cluster().groups().get(0).get(0);
  }

  /** Empty where the devices or the batch cannot be divided equally. */
  List<Layout> of(Strategy strategy, int devices, long batch) {
    if (strategy.dividesBlocks()) {
      return blocks(strategy, devices, batch);
    }
    if (!strategy.pipelined() && strategy.split() == Split.NOTHING) {
      return List.of(Layout.of(strategy, devices, 1));
    }
    List<Layout> layouts = new ArrayList<>();
    for (int size : sizes(strategy, devices)) {
      int groups = devices / size;
      if (groups > batch) {
        continue;
      }
      if (strategy.pipelined()) {
        layouts.addAll(pipelines(strategy, groups, size, batch));
      } else if (strategy.split() == Split.POSITIONS) {
        for (List<Integer> grid : limits.grids(size)) {
          layouts.add(Layout.spatial(strategy, groups, grid));
        }
      } else {
        layouts.add(Layout.of(strategy, groups, size));
      }
    }
    return layouts;
  }

  /** Devices of a group: all, or what the user says, or as many of a node as divide them. */
  private List<Integer> sizes(Strategy strategy, int devices) {
    if (!strategy.hybrid()) {
      return List.of(devices);
    }
    int most =
        strategy.pipelined() ? limits.stages(strategy).devices() : limits.parts(strategy).devices();
    OptionalInt given = size(strategy, devices);
    if (given.isPresent()) {
      int size = given.getAsInt();
      return devices % size == 0 && size <= most ? List.of(size) : List.of();
    }
    for (int size = Math.min(Math.min(node, most), devices); size >= 1; size--) {
      boolean insideNodes = devices <= node || node % size == 0;
      if (devices % size == 0 && insideNodes) {
        return List.of(size);
      }
    }
    return List.of();
  }

  /** Devices of a group as the user says. */
  private OptionalInt size(Strategy strategy, int devices) {
    ParallelDegrees degrees = setting.degrees();
    if (strategy.pipelined() && degrees.pipeline().isPresent()) {
      return degrees.pipeline();
    }
    if (strategy.pipelined() && degrees.data().isPresent()) {
      return OptionalInt.of(Math.max(1, devices / degrees.data().getAsInt()));
    }
    return setting.groupSize();
  }

  private List<Layout> pipelines(Strategy strategy, int groups, int stages, long batch) {
    ParallelDegrees degrees = setting.degrees();
    boolean asked =
        groups == degrees.data().orElse(groups)
            && stages == degrees.pipeline().orElse(stages)
            && fits(strategy, stages);
    Optional<Integer> segments =
        degrees.microBatch().isPresent()
            ? segments(batch, groups, degrees.microBatch().getAsInt())
            : usualSegments(batch, groups, stages);
    List<Layout> layouts = new ArrayList<>();
    if (asked && segments.isPresent()) {
      for (Recompute recompute : degrees.recompute()) {
        layouts.add(new Layout(strategy, groups, stages, 1, List.of(), segments.get(), recompute));
      }
    }
    return layouts;
  }

  /** Equal segments, the most up to four for each stage. */
  private Optional<Integer> usualSegments(long batch, int groups, int stages) {
    if (batch % groups != 0) {
      return Optional.empty();
    }
    long samples = batch / groups;
    if (setting.segments().isPresent()) {
      int given = setting.segments().getAsInt();
      boolean equal = samples % given == 0 && samples / given <= MOST_SAMPLES;
      return equal ? Optional.of(given) : Optional.empty();
    }
    long segments = Math.min(samples, (long) SEGMENTS_PER_STAGE * stages);
    while (samples % segments != 0) {
      segments--;
    }
    return samples / segments <= MOST_SAMPLES ? Optional.of((int) segments) : Optional.empty();
  }

  /** As many segments as micro-batches of so many samples make a group's part of the batch. */
  private static Optional<Integer> segments(long batch, int groups, int microBatch) {
    long each = (long) groups * microBatch;
    return batch % each == 0 && batch / each <= Integer.MAX_VALUE
        ? Optional.of((int) (batch / each))
        : Optional.empty();
  }

  /** Every degree of tensor parallelism inside a node, every number of stages and micro-batch. */
  private List<Layout> blocks(Strategy strategy, int devices, long batch) {
    ParallelDegrees degrees = setting.degrees();
    List<Layout> layouts = new ArrayList<>();
    for (int parts : divisors(strategy, devices)) {
      for (int stages = 1; stages <= devices / parts; stages++) {
        int groups = devices / parts / stages;
        boolean divides = parts * stages * groups == devices;
        boolean allowed = fits(strategy, stages) && (strategy.replicates() || groups == 1);
        boolean asked =
            groups == degrees.data().orElse(groups)
                && (!strategy.pipelined() || stages == degrees.pipeline().orElse(stages));
        if (divides && allowed && asked) {
          layouts.addAll(accumulating(strategy, groups, stages, parts, batch));
        }
      }
    }
    return layouts;
  }

  /** Whether the network can be cut into as many stages as the ranks of a pipeline have. */
  private boolean fits(Strategy strategy, int ranks) {
    int chunks = ranks == 1 ? 1 : setting.degrees().schedule().chunks();
    return (long) ranks * chunks <= limits.stages(strategy).devices();
  }

  /** The degrees of tensor parallelism. */
  private List<Integer> divisors(Strategy strategy, int devices) {
    int most = limits.parts(strategy).devices();
    if (!strategy.replicates() && !strategy.pipelined()) {
      return devices <= most && devices == setting.degrees().tensor().orElse(devices)
          ? List.of(devices)
          : List.of();
    }
    List<Integer> found = new ArrayList<>();
    OptionalInt given = setting.degrees().tensor();
    for (int parts = 1; parts <= Math.min(devices, most); parts++) {
      boolean asked = given.isPresent() ? parts == given.getAsInt() : parts <= node;
      if (devices % parts == 0 && asked) {
        found.add(parts);
      }
    }
    return found;
  }

  /** Micro-batches of each power of two of samples, or as the user says. */
  private List<Layout> accumulating(
      Strategy strategy, int groups, int stages, int parts, long batch) {
    List<Layout> layouts = new ArrayList<>();
    if (batch % groups != 0) {
      return layouts;
    }
    long samples = batch / groups;
    OptionalInt given = setting.degrees().microBatch();
    for (long each = 1; each <= Math.min(samples, MOST_SAMPLES); each++) {
      long segments = samples / each;
      boolean asked =
          given.isPresent()
              ? each == given.getAsInt()
              : setting.segments().isPresent()
                  ? segments == setting.segments().getAsInt()
                  : Long.bitCount(each) == 1;
      if (samples % each == 0 && asked && segments <= Integer.MAX_VALUE) {
        for (Recompute recompute : setting.degrees().recompute()) {
          layouts.add(
              new Layout(strategy, groups, stages, parts, List.of(), (int) segments, recompute));
        }
      }
    }
    return layouts;
  }
}
