package dev.pipewright.planner;

import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.FlowBound.Message;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Placement;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoublePredicate;

/**
 * What the grids of one kind of parallelism within layers take at least ({@link GridBound}): with
 * the least that its exchanges take on the devices of its ranks ({@link GridExchanges}).
 */
final class PipelineBounds {
  private static final int HALVINGS = 10;
  private static final double STEP = 1.5; // by which a bound is raised
  private static final double MOST = 1000; // times a bound: then there may be no cut at all
  private static final Request KEEPING = Request.of(1).recomputing(Recomputation.NEVER);

  private final DividedWork work;
  private final int[] path;
  private final Recomputation recomputation;
  private final PipelineOracle oracle;
  private final double capacity; // bytes of the largest device
  private final GridExchanges exchanges;
  private final RankSpeeds speeds;
  private final Map<List<Object>, Boolean> packings = Collections.synchronizedMap(new HashMap<>());

  PipelineBounds(StageCosts costs, DividedWork work, int[] path, Recomputation recomputation) {
    this(costs, work, path, recomputation, new PipelineOracle(costs, new PathFormula()));
  }

  /** The same where an oracle is there already. */
  PipelineBounds(
      StageCosts costs,
      DividedWork work,
      int[] path,
      Recomputation recomputation,
      PipelineOracle oracle) {
    this.work = work;
    this.path = path;
    this.recomputation = recomputation;
    this.oracle = oracle;
    this.speeds = new RankSpeeds(costs);
    this.capacity = costs.workload().cluster().mostMemory().value();
    this.exchanges = new GridExchanges(costs, work, path);
  }

  /** Of a step with schedules of some shape; infinite where memory does not suffice. */
  double seconds(Grid grid, MicroBatching batching, ScheduleShape shape) {
    return seconds(grid, batching, shape, Double.POSITIVE_INFINITY);
  }

  /**
   * The same.
   *
   * @param enough no higher bound is asked for
   */
  double seconds(Grid grid, MicroBatching batching, ScheduleShape shape, double enough) {
    LayerLoads loads = loads(grid, batching, shape);
    if ((long) grid.ranks() * shape.chunks() > loads.size() || !mayHold(grid, batching, shape)) {
      return Double.POSITIVE_INFINITY;
    }
    double bound =
        Math.max(
            grid(grid, batching, shape).seconds(free(grid, shape), working(grid, batching), enough),
            speeds.seconds(
                grid,
                batching.microBatches(),
                loads.passes(),
                work.exchanges(StageCosts.slice(batching.samples(), grid.replicas()))));
    return grid.ranks() == 1 && shape.straight() && Double.isFinite(bound) && bound < enough
        ? Math.max(bound, oneStage(grid, batching))
        : bound;
  }

  /**
   * The same with bounds that take longer: of memory, of the order of work where it is known, of
   * all orders where stages go there and back over the ranks, and of messages, those from one rank
   * to another one after the other ({@link dev.pipewright.cost.SimulatedOracle}).
   *
   * @param folded whether they do: then each rank has two
   * @param enough no higher bound is asked for
   */
  double thorough(
      Grid grid,
      MicroBatching batching,
      ScheduleShape shape,
      CountedSchedules.Facts facts,
      boolean folded,
      double enough) {
    List<WorkOrder> orders = facts.orders();
    LayerLoads loads = loads(grid, batching, shape);
    if (grid.ranks() * shape.chunks() > loads.size()) {
      return Double.POSITIVE_INFINITY;
    }
    double bound = keeping(grid, batching, shape, orders, enough);
    if (bound < enough) {
      bound = Math.max(bound, ordered(grid, batching, shape, orders, enough));
    }
    bound = Math.max(bound, seconds(grid, batching, shape));
    if (grid.ranks() > 1 && bound < enough) {
      StageFlow flow = facts.flow().orElse(flow(grid, batching, shape, folded));
      bound = raised(flows(grid, batching, shape, flow)::isPossible, bound, enough);
    }
    int folds = orders.isEmpty() ? folded ? 1 : 0 : orders.get(0).folds();
    if (folds > 0 && bound < enough) {
      int[] inFlight = orders.isEmpty() ? new int[0] : orders.get(0).inFlight();
      FoldedBound any = folds(grid, batching, shape, folds, inFlight);
      bound = raised(any::isPossible, bound, enough);
    }
    return bound < enough && remembers(grid, shape)
        ? Math.max(
            bound,
            memory(grid, batching, shape)
                .overTime(
                    grid.ranks() * shape.chunks(), grid(grid, batching, shape).mean(), enough))
        : bound;
  }

  /**
   * Of what stages keep at once; 0 where all is recomputed, or the order of work is not known.
   *
   * @param enough no higher bound is asked for
   */
  double keeping(
      Grid grid,
      MicroBatching batching,
      ScheduleShape shape,
      List<WorkOrder> orders,
      double enough) {
    return !orders.isEmpty() && remembers(grid, shape)
        ? memory(grid, batching, shape)
            .atOnce(orders.get(0).inFlight(), grid(grid, batching, shape).mean(), enough)
        : 0;
  }

  private boolean remembers(Grid grid, ScheduleShape shape) {
    return !recomputation.always() && free(grid, shape) > 0;
  }

  private StageMemoryBound memory(Grid grid, MicroBatching batching, ScheduleShape shape) {
    return new StageMemoryBound(
        loads(grid, batching, shape),
        work.inputs(StageCosts.slice(batching.samples(), grid.replicas())),
        grid.ranks(),
        batching.microBatches(),
        shape.splits(),
        recomputation,
        free(grid, shape),
        working(grid, batching));
  }

  private double ordered(
      Grid grid,
      MicroBatching batching,
      ScheduleShape shape,
      List<WorkOrder> orders,
      double enough) {
    LayerLoads loads = loads(grid, batching, shape);
    StageEnds ends = exchanges.ends(grid, loads, shape);
    return new OrderBound(loads, ends, (from, to) -> exchanges.send(grid, batching, from, to))
        .seconds(orders, grid.ranks(), enough);
  }

  private FoldedBound folds(
      Grid grid, MicroBatching batching, ScheduleShape shape, int folds, int[] inFlight) {
    LayerLoads loads = loads(grid, batching, shape);
    boolean one = folds == 1; // otherwise passes of the other direction may hide sums
    StageEnds ends = one ? exchanges.ends(grid, loads, shape) : StageEnds.none(loads.size());
    return new FoldedBound(
        loads,
        new FoldedMemory(
            loads,
            work.inputs(StageCosts.slice(batching.samples(), grid.replicas())),
            work.stateBytes(grid.replicas() * folds, grid.sharding()),
            capacity,
            folds,
            inFlight,
            recomputation),
        ends.exchanges(),
        ends.rest(),
        one ? exchanges.fromFirst(grid, batching) : new double[grid.ranks() / folds],
        batching.microBatches() / folds);
  }

  /** Of a schedule whose order of work is not known. */
  private static StageFlow flow(
      Grid grid, MicroBatching batching, ScheduleShape shape, boolean folded) {
    int microBatches = batching.microBatches();
    if (folded || shape.straight()) {
      return StageFlow.of(Placement.waves(grid.ranks(), shape.chunks()), microBatches);
    }
    int stages = grid.ranks() * shape.chunks();
    return StageFlow.unknown(stages, Math.ceilDiv(microBatches, shape.chains()));
  }

  private FlowBound flows(Grid grid, MicroBatching batching, ScheduleShape shape, StageFlow flow) {
    LayerLoads loads = loads(grid, batching, shape);
    StageEnds ends = exchanges.ends(grid, loads, shape);
    Message[] there = new Message[flow.stages()];
    Message[] back = new Message[flow.stages()];
    for (int stage = 0; stage < flow.stages(); stage++) {
      boolean crosses = flow.crosses(stage);
      int from = flow.ranks()[stage];
      int to = crosses ? flow.ranks()[stage + 1] : from;
      there[stage] = exchanges.message(grid, from, to);
      back[stage] = exchanges.message(grid, to, from);
    }
    return new FlowBound(
        loads,
        shape.splits(),
        flow,
        shape.straight() ? ends : ends.hidden(),
        there,
        back,
        exchanges.cuts(),
        batching.samples());
  }

  /** By halving what is between a bound and {@code enough}. */
  private static double raised(DoublePredicate possible, double bound, double enough) {
    if (possible.test(bound)) {
      return bound;
    }
    double none = bound;
    double some = Math.min(enough, STEP * bound);
    while (!possible.test(some)) {
      if (some >= enough || some > MOST * bound) {
        return some;
      }
      none = some;
      some = Math.min(enough, STEP * some);
    }
    for (int i = 0; i < HALVINGS; i++) {
      double middle = (none + some) / 2;
      if (possible.test(middle)) {
        some = middle;
      } else {
        none = middle;
      }
    }
    return none;
  }

  /** Whether devices could hold the states of whole layers, and what a backward pass needs. */
  private boolean mayHold(Grid grid, MicroBatching batching, ScheduleShape shape) {
    int holders = grid.replicas() * shape.chains();
    double room = capacity - working(grid, batching);
    return packings.computeIfAbsent(
        List.of(grid.ranks(), holders, shape.copies(), grid.sharding(), room),
        key ->
            StatePacking.mayFit(
                work.stateBytes(holders, grid.sharding()),
                Math.ceilDiv(grid.ranks(), shape.copies()),
                room));
  }

  private LayerLoads loads(Grid grid, MicroBatching batching, ScheduleShape shape) {
    int slice = StageCosts.slice(batching.samples(), grid.replicas());
    return work.loads(slice).split(shape.splits());
  }

  /** Bytes of a rank's device that states leave, the mean over the ranks. */
  private double free(Grid grid, ScheduleShape shape) {
    return capacity
        - work.stateBytes(grid.ranks(), grid.replicas(), grid.sharding(), shape.copies());
  }

  private double working(Grid grid, MicroBatching batching) {
    return work.part().workingBytes(StageCosts.slice(batching.samples(), grid.replicas()));
  }

  private GridBound grid(Grid grid, MicroBatching batching, ScheduleShape shape) {
    LayerLoads loads = loads(grid, batching, shape);
    return new GridBound(
        loads,
        grid.ranks(),
        batching.microBatches(),
        shape,
        recomputation,
        exchanges.ends(grid, loads, shape),
        exchanges.narrowest(grid, batching, shape),
        exchanges.overhead(grid, batching));
  }

  /**
   * Of a single stage, in full, when it recomputes nothing. Recomputation adds work, which hides no
   * more seconds of exchanges than it takes itself, so no such step is shorter.
   */
  private double oneStage(Grid grid, MicroBatching batching) {
    PipelinePlan plan =
        new CutPlans(grid, batching, KEEPING, path)
            .plan(
                PipelinePolicy.A,
                batching.microBatches(),
                new int[] {0},
                new double[] {0},
                grid.overlaps());
    double seconds = oracle.assess(plan).stepSeconds();
    return plan.sharding() == ZeroStage.NOTHING
        ? Math.min(seconds, oracle.assess(plan.overlapping(!plan.overlapGradients())).stepSeconds())
        : seconds;
  }
}
