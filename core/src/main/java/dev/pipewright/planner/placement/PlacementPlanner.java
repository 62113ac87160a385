package dev.pipewright.planner.placement;

import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.placement.PlacementResult.Alternative;
import dev.pipewright.planner.placement.PlacementResult.Placed;
import dev.pipewright.planner.placement.PlacementResult.TooBroad;
import dev.pipewright.planner.placement.PlacementResult.Unfinished;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Places operators so that the busiest device is as little busy as possible.
 *
 * <p>Paper: J. Tarnawski, A. Phanishayee, N. Devanur, D. Mahajan, F. Nina Paravecino, <i>Efficient
 * Algorithms for Device Placement of DNN Graph Operators</i>, NeurIPS 2020, arXiv:2006.16423: every
 * device holds a contiguous set of the forward pass, and of the backward pass what belongs to it.
 * Exact; first along single orders of the operators, whose best is a ceiling for the search over
 * all ideals. What need not be contiguous is improved from there by {@link PlacementAnnealing}.
 */
public final class PlacementPlanner {
  /** The planner's name. */
  public static final String NAME = "placement";

  private static final long MOST_NUMBERS = 80_000_000;

  private final OperatorGraph graph;
  private final PlacementRequest request;
  private Groups groups;
  private WorkBounds bounds;
  private final List<Alternative> alternatives = new ArrayList<>();
  private Optional<OperatorPlacement> best = Optional.empty();
  private LowerBound bound;
  private boolean proven;
  private boolean unfinished; // asked to stop before all was searched
  private String searched = "";
  private int ideals;
  private boolean coarse; // groups may need more memory than others would
  private long pairs;

  /** Plans with groups that were made already. */
  PlacementPlanner(OperatorGraph graph, PlacementRequest request, Groups groups) {
    this.graph = graph;
    this.request = request;
    this.groups = groups;
    bounds = new WorkBounds(groups);
    bound = bounds.bound();
  }

  /** The best placement of the kind that is asked for. */
  public static PlacementResult plan(OperatorGraph graph, PlacementRequest request) {
    return new PlacementPlanner(graph, request, Grouping.of(graph)).answer();
  }

  PlacementResult answer() {
    orders();
    if (!request.linearize()) {
      Optional<TooBroad> tooBroad = ideals();
      if (tooBroad.isPresent()) {
        return tooBroad.get();
      }
    }
    if (best.isEmpty()) {
      return unfinished ? new Unfinished(bound) : Room.needed(graph, request);
    }
    if (request.apart()) {
      apart();
    }
    OperatorPlacement placement = best.get();
    Baselines.oneAccelerator(graph)
        .filter(all -> fits(graph, all))
        .ifPresent(all -> alternative("one accelerator", all));
    alternatives.removeIf(other -> other.maxLoad() < placement.maxLoad());
    alternatives.sort(Comparator.comparingDouble(Alternative::maxLoad));
    return new Placed(
        placement,
        bound,
        proven,
        searched,
        PlacementWords.binding(placement),
        ideals,
        pairs,
        alternatives);
  }

  private void alternative(String kind, OperatorPlacement placement) {
    alternatives.add(new Alternative(kind, placement.maxLoad()));
  }

  private double known() {
    return best.map(OperatorPlacement::maxLoad).orElse(Double.POSITIVE_INFINITY);
  }

  /** Cuts single orders of the operators; the first whatever the stop says. */
  private void orders() {
    BooleanSupplier stop = () -> false;
    List<int[]> orders = groups.orders();
    for (int[] order : orders) {
      if (!stop.getAsBoolean()) {
        deepen(IdealLattice.chain(order), stop).best().ifPresent(this::take);
      }
      stop = request.stop();
    }
    searched = "contiguous sets along %d orders of the operators".formatted(orders.size());
    if (best.isPresent()) {
      proven = known() <= bound.value() * (1 + 1e-12);
      if (!request.linearize()) {
        alternative("along one order", best.get());
      }
    }
  }

  private Deepening deepen(IdealLattice lattice, BooleanSupplier stop) {
    ContiguousPlacement search = new ContiguousPlacement(groups, lattice, bounds, stop);
    Deepening deepening = Deepening.of(search, bound.value(), known(), groups.most());
    pairs += search.visited();
    return deepening;
  }

  private void take(Stages stages) {
    OperatorPlacement placement = OperatorPlacement.of(graph, groups, stages);
    if (placement.maxLoad() < known()) {
      best = Optional.of(placement);
    }
  }

  /** Searches all contiguous placements. */
  private Optional<TooBroad> ideals() {
    Optional<IdealLattice> all = lattice();
    if (all.isEmpty()) {
      unfinished = request.stop().getAsBoolean();
      return unfinished ? Optional.empty() : Optional.of(new TooBroad(most(groups), groups.size));
    }
    ideals = all.get().count;
    Deepening over = deepen(all.get(), request.stop());
    over.best().ifPresent(this::take);
    unfinished = !over.proven();
    proven = over.proven() && !coarse;
    searched =
        "all contiguous sets of %d groups of operators%s"
            .formatted(groups.size, coarse ? ", leaves that take no time among them" : "");
    if (proven && best.isPresent()) {
      bound = new LowerBound(known(), "no contiguous placement is better: all were searched");
    } else if (!coarse && over.bound() > bound.value()) {
      bound = new LowerBound(over.bound(), "no contiguous placement is below: so far was searched");
    }
    return Optional.empty();
  }

  /** Ideals of the groups, if need be with leaves joined as the authors do. */
  private Optional<IdealLattice> lattice() {
    int most = most(groups);
    Optional<IdealLattice> all = IdealLattice.of(groups, most, request.stop());
    if (all.isEmpty() && !request.stop().getAsBoolean()) {
      Groups larger = Grouping.published(graph);
      if (larger.size < groups.size) {
        groups = larger;
        bounds = new WorkBounds(larger);
        coarse = true;
        all = IdealLattice.of(groups, most(groups), request.stop());
      }
    }
    return all;
  }

  private int most(Groups of) {
    long each = ContiguousPlacement.numbers(of, 1);
    return (int) Math.min(request.mostIdeals(), Math.max(1, MOST_NUMBERS / each));
  }

  /** Improves the best by taking sets apart: only colours hold operators together then. */
  private void apart() {
    OperatorPlacement contiguous = best.orElseThrow();
    Groups colours = Grouping.coloursOnly(graph);
    PlacementAnnealing search = new PlacementAnnealing(colours, request.seed(), request.stop());
    best = Optional.of(search.improved(graph, contiguous));
    searched += ", then sets that need not be contiguous by local search";
    alternatives.add(0, new Alternative("contiguous", contiguous.maxLoad()));
    bound = new WorkBounds(colours).bound();
    proven = known() <= bound.value() * (1 + 1e-12);
  }

  /** Whether any device holds more than it has. */
  static boolean fits(OperatorGraph graph, OperatorPlacement placement) {
    double capacity = graph.devices().acceleratorBytes();
    return placement.devices().stream()
        .allMatch(device -> device.processor() || device.bytes() <= capacity * (1 + 1e-9));
  }

  /** The operators of each device in the order of the graph, for tests. */
  static int[] deviceOf(OperatorGraph graph, OperatorPlacement placement) {
    int[] deviceOf = new int[graph.size()];
    Arrays.fill(deviceOf, -1);
    for (int device = 0; device < placement.devices().size(); device++) {
      for (int operator : placement.devices().get(device).operators()) {
        deviceOf[operator] = device;
      }
    }
    return deviceOf;
  }
}
