package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.BlockShape;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.ParallelismLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * How the devices of a tensor-parallel group may divide layers in the grids of {@link
 * EqualPipelines}.
 *
 * <p>Within a machine, in all degrees that divide it: transformers by heads, with and without
 * sequence parallelism, other networks by maps and products. Transformers also by tokens (context
 * parallelism) where each device keeps {@value #FEWEST_TOKENS} of a sequence, by heads within a
 * machine and tokens, and mixtures by experts and whole sequences or tokens, or by experts and by
 * heads within a machine; these also over several machines, in degrees that double.
 */
final class GridKinds {
  /** Tokens of a device: below, keys and values that are gathered outweigh what is divided. */
  static final int FEWEST_TOKENS = 4096;

  private static final List<Kind> OF_BLOCKS =
      List.of(Kind.SEQUENCE, Kind.TENSOR, Kind.CONTEXT, Kind.EXPERT);
  private static final List<Kind> OF_MAPS = List.of(Kind.SPATIAL, Kind.FILTER, Kind.CHANNEL);

  private final LayerGraph graph;
  private final ParallelismLimits limits;
  private final Cluster cluster;

  private GridKinds(Workload workload) {
    this.graph = workload.chain().graph();
    this.limits = new ParallelismLimits(graph);
    this.cluster = workload.cluster();
  }

  /** Those that the layers and the cluster allow; the layers as they are come first. */
  static List<Parallelism> of(Workload workload) {
    return new GridKinds(workload).all();
  }

  /** Whether a group is larger than a machine. */
  static boolean spansMachines(Parallelism parallelism, Cluster cluster) {
    return parallelism.parts() > cluster.groups().get(0).get(0);
  }

  private List<Parallelism> all() {
    List<Parallelism> found = new ArrayList<>(List.of(Parallelism.NONE));
    List<Integer> machines = cluster.groups().get(0);
    int machine = machines.get(0);
    for (int parts = 2; parts <= machine; parts++) {
      if (machine % parts == 0) {
        boolean blocks = limits.tensorParallel(parts).kind() == Kind.TENSOR;
        add(blocks ? OF_BLOCKS : OF_MAPS, parts, found);
      }
    }
    boolean equal = machines.stream().allMatch(size -> size == machine);
    for (int parts = 2 * machine; equal && parts <= cluster.size(); parts *= 2) {
      if (cluster.size() % parts == 0) {
        add(List.of(Kind.CONTEXT, Kind.EXPERT), parts, found);
      }
    }
    List.copyOf(found).stream()
        .filter(each -> each.kind() == Kind.SEQUENCE)
        .forEach(each -> addCopies(each.parts(), equal, found));
    return found;
  }

  /**
   * Groups of so many devices that together divide tokens, or samples and experts: in a machine, or
   * in equal ones.
   */
  private void addCopies(int parts, boolean equal, List<Parallelism> found) {
    int machine = cluster.groups().get(0).get(0);
    for (int copies = 1; copies * parts <= cluster.size(); copies *= 2) {
      int all = copies * parts;
      boolean divides = all <= machine ? machine % all == 0 : equal && cluster.size() % all == 0;
      if (divides && copies > 1 && suits(Kind.CONTEXT, copies)) {
        addAllowed(Parallelism.ofCopies(copies, parts), found);
      }
      if (divides && suits(Kind.EXPERT, all)) {
        addAllowed(Parallelism.ofExpertCopies(copies, parts), found);
      }
    }
  }

  private void addAllowed(Parallelism parallelism, List<Parallelism> found) {
    if (limits.refusal(parallelism).isEmpty()) {
      found.add(parallelism);
    }
  }

  private void add(List<Kind> kinds, int parts, List<Parallelism> found) {
    for (Kind kind : kinds) {
      if (suits(kind, parts)) {
        ways(kind, parts).forEach(each -> addAllowed(each, found));
      }
    }
  }

  private static Stream<Parallelism> ways(Kind kind, int parts) {
    Parallelism usual = Parallelism.of(kind, parts);
    return kind == Kind.EXPERT
        ? Stream.of(Parallelism.ofWholeSequences(parts), usual)
        : Stream.of(usual);
  }

  /** Whether each device has equally many experts, or as many tokens as are worth it. */
  private boolean suits(Kind kind, int parts) {
    return switch (kind) {
      case EXPERT ->
          graph.layers().stream()
              .map(layer -> ParallelismLimits.experts(layer.operator()))
              .filter(OptionalInt::isPresent)
              .allMatch(experts -> experts.getAsInt() % parts == 0);
      case CONTEXT ->
          graph.layers().stream()
              .flatMap(layer -> BlockShape.of(layer).stream())
              .allMatch(block ->
                  block.sequence() % parts == 0 && block.sequence() / parts >= FEWEST_TOKENS);
      default -> true;
    };
  }
}
