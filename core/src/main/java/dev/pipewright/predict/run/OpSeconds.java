package dev.pipewright.predict.run;

import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cost.GradientSumSeconds;
import dev.pipewright.cost.SplitConcat;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.cost.StageLoads;
import dev.pipewright.cost.Workload;
import dev.pipewright.cost.ZeroSeconds;
import dev.pipewright.cost.ZeroTimeline;
import dev.pipewright.exchange.TiedStates;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Seconds of the ops of an assignment, by stage of all chains. */
final class OpSeconds {
  private final StageLoads loads;
  private final Assignment assignment;
  private final Assignment typical;
  private final Placement placement;
  private final Map<Integer, ZeroSeconds> sharded = new HashMap<>(); // by rank, where any is
  private final double[] forward;
  private final double[] input;
  private final double[] weight;
  private final double[] recompute;
  private final double[] there;
  private final double[] back;
  private final double[] reduce;
  private final double[] update;
  private final double[] gradientPass;
  private final double[] besideForward; // what steps that flow add to passes
  private final double[] besideBackward;

  private OpSeconds(StageLoads loads, Assignment assignment, Assignment typical) {
    this.loads = loads;
    this.assignment = assignment;
    this.typical = typical;
    this.placement = assignment.schedule().placement();
    int stages = placement.stages();
    forward = new double[stages];
    input = new double[stages];
    weight = new double[stages];
    recompute = new double[stages];
    there = new double[stages];
    back = new double[stages];
    reduce = new double[stages];
    update = new double[stages];
    gradientPass = new double[stages];
    besideForward = new double[stages];
    besideBackward = new double[stages];
    for (int rank = 0; rank < placement.ranks(); rank++) {
      if (assignment.sharding() != ZeroStage.NOTHING) {
        sharded.put(rank, new ZeroSeconds(loads, assignment, rank));
      }
    }
  }

  /**
   * Of as many steps as an assignment has.
   *
   * @param typical the same over enough steps that flow to have all stages at work
   */
  static OpTimes of(StageLoads loads, Assignment assignment, Assignment typical) {
    OpSeconds seconds = new OpSeconds(loads, assignment, typical);
    for (int depth = 0; depth < seconds.placement.depth(); depth++) {
      seconds.once(depth);
    }
    for (int stage = 0; stage < seconds.placement.stages(); stage++) {
      seconds.passes(stage);
    }
    if (assignment.sharding() == ZeroStage.NOTHING && assignment.asyncPipeline().isEmpty()) {
      seconds.tied();
    }
    return assignment.sharding() == ZeroStage.NOTHING
        ? SumsOfOtherStages.counted(
            assignment.schedule(), seconds.all(), loads.whole().workload().cluster().software())
        : seconds.all(); // which counts that itself
  }

  private OpTimes all() {
    OncePerStepTimes step =
        new OncePerStepTimes(new double[forward.length], reduce, gradientPass, update);
    OpTimes times = new OpTimes(forward, input, weight, recompute, there, back, step, false);
    boolean exceptLast =
        assignment.stages().stream().anyMatch(s -> s.recompute() == Recompute.EXCEPT_LAST);
    return exceptLast && sharded.isEmpty() // which counts that itself
        ? times.withRecomputed(this::exceptLast)
        : times;
  }

  /** Whether it is computed again in a stage that does not do so with all. */
  private boolean exceptLast(int stage, int microBatch) {
    Recompute stages = assignment.stages().get(stage % placement.depth()).recompute();
    return stages == Recompute.EXCEPT_LAST
        && assignment.layers(stage, microBatch).recompute() == Recompute.STAGE_INPUT;
  }

  /** What a step runs once for each stage of a chain. */
  private void once(int depth) {
    double updating = loads.seconds(Quantity.UPDATE, depth, range(depth));
    double reducing = reduceSeconds(depth);
    for (int stage = depth; stage < forward.length; stage += placement.depth()) {
      int rank = placement.rankOf(stage);
      ZeroSeconds shared = sharded.get(rank);
      update[stage] =
          shared == null ? updating : shared.update(depth) + shared.allGatherUpdated(depth);
      reduce[stage] = shared == null ? reducing : shared.stage(depth).afterPasses();
    }
    if (assignment.inOnePlace()) {
      travel(depth);
    } else if (assignment.asyncPipeline().isPresent()) {
      asyncPipeline(depth, updating);
    }
  }

  /** The same where steps flow into one another, and what that adds to passes. */
  private void asyncPipeline(int depth, double updating) {
    double bytes = loads.parameterBytes(depth);
    AsyncSeconds asynchronous =
        new AsyncSeconds(typical, loads.whole().workload(), worker -> loads.device(worker));
    double own = asynchronous.update(depth, bytes, updating);
    double learning = asynchronous.learning(depth, bytes, updating);
    double gradientPasses = asynchronous.gradientPass(depth, bytes);
    double behind = asynchronous.summing(depth, bytes) + asynchronous.handingOn(depth, bytes);
    for (int stage = depth; stage < forward.length; stage += placement.depth()) {
      update[stage] = own;
      gradientPass[stage] = gradientPasses;
      besideForward[stage] = learning;
      besideBackward[stage] = behind;
    }
  }

  /** The same where a stage's states go from user to user, and what that adds to passes. */
  private void travel(int depth) {
    LayerRange range = range(depth);
    double parameters = loads.parameterBytes(depth);
    double all = loads.costs(depth).staticBytes(range.first(), range.last() + 1);
    MigrationSeconds travel =
        new MigrationSeconds(
            typical,
            depth,
            parameters,
            all - 2 * parameters,
            loads.whole().workload().cluster(),
            worker -> loads.device(worker));
    for (int stage = depth; stage < forward.length; stage += placement.depth()) {
      int rank = placement.rankOf(stage);
      gradientPass[stage] = travel.gradientPass(rank);
      update[stage] += travel.update(rank) + travel.handingOn(rank, Pass.UPDATE);
      besideForward[stage] = travel.handingOn(rank, Pass.FORWARD);
      besideBackward[stage] = travel.backward(rank) + travel.handingOn(rank, Pass.BACKWARD);
    }
  }

  /** Sums of tables that are read twice, behind the last of all others. */
  private void tied() {
    Workload workload = loads.whole().workload();
    Schedule ended = StepEnd.of(assignment.schedule());
    for (int rank = 0; rank < placement.ranks(); rank++) {
      int last = 0;
      for (long op : ended.packed(rank)) {
        last = Schedule.pass(op) == Pass.REDUCE ? Schedule.stage(op) : last;
      }
      int worker = assignment.firstWorker(rank);
      for (TiedStates tied : TiedStates.of(assignment, workload.chain(), worker)) {
        double element = workload.profile().precision().bytes();
        reduce[last] += loads.group(tied).allReduce(tied.table().numbers() * element);
      }
    }
  }

  private LayerRange range(int depth) {
    return assignment.stages().get(depth).range();
  }

  private void passes(int stage) {
    int depth = stage % placement.depth();
    LayerRange range = range(depth);
    Optional<GroupExchangeSeconds> tensorGroup = tensorGroup(stage);
    ZeroSeconds shared = sharded.get(placement.rankOf(stage));
    if (shared == null) {
      computed(stage, depth, range);
    } else {
      computed(stage, shared.stage(depth));
    }
    double messages = messages(stage, range);
    recompute[stage] = forward[stage] + communication(tensorGroup, true);
    forward[stage] = recompute[stage] + besideForward[stage] + messages;
    input[stage] +=
        communication(tensorGroup, false)
            + toldAgain(depth, tensorGroup)
            + besideBackward[stage]
            + messages;
    if (!placement.last(stage)) {
      double bytes = loads.whole().cutBytes()[range.last() + 1] * loads.microBatch();
      there[stage] = transfer(stage, stage + 1, bytes);
      back[stage] = transfer(stage + 1, stage, bytes);
    }
  }

  private void computed(int stage, int depth, LayerRange range) {
    forward[stage] = loads.seconds(Quantity.FORWARD, depth, range);
    if (assignment.splitsBackward(depth)) {
      input[stage] = loads.seconds(Quantity.INPUT_GRADIENT, depth, range);
      weight[stage] = loads.seconds(Quantity.WEIGHT_GRADIENT, depth, range);
    } else {
      input[stage] = loads.seconds(Quantity.BACKWARD, depth, range);
    }
    for (LayerRange run : again(depth)) {
      input[stage] += loads.seconds(Quantity.FORWARD, depth, run);
    }
  }

  /** The same with what others have of the stage's states. */
  private void computed(int stage, ZeroTimeline shared) {
    forward[stage] = shared.seconds(Pass.FORWARD);
    if (assignment.splitsBackward(stage % placement.depth())) {
      input[stage] = shared.seconds(Pass.BACKWARD_INPUT);
      weight[stage] = shared.seconds(Pass.BACKWARD_WEIGHT);
    } else {
      input[stage] = shared.seconds(Pass.BACKWARD);
    }
  }

  private static double communication(Optional<GroupExchangeSeconds> tensorGroup, boolean forward) {
    return tensorGroup.map(seconds -> seconds.seconds(forward)).orElse(0.0);
  }

  /** What the workers of a split stage tell each other while they compute it together. */
  private Optional<GroupExchangeSeconds> tensorGroup(int stage) {
    int rank = placement.rankOf(stage);
    StageLayers layers = assignment.stages().get(stage % placement.depth());
    if (!layers.split().several()) {
      return Optional.empty();
    }
    int first = assignment.firstWorker(rank);
    int[] devices =
        IntStream.range(first, first + assignment.workers().get(rank)).map(loads::device).toArray();
    return Optional.of(
        new GroupExchangeSeconds(
            loads.whole().workload(),
            layers,
            assignment.dividesAlike(),
            StageGroups.of(loads.whole(), devices, layers.split()),
            loads.slice(stage % placement.depth())));
  }

  /** What a backward pass computes again. */
  private List<LayerRange> again(int depth) {
    StageLayers layers = assignment.stages().get(depth);
    return switch (layers.recompute()) {
      case NONE, EXCEPT_LAST -> List.of(); // which only some micro-batches do
      case STAGE_INPUT -> List.of(layers.range());
      case SELECTIVE -> layers.again();
    };
  }

  /** Seconds in which the workers of a split stage tell each other the same again for it. */
  private double toldAgain(int depth, Optional<GroupExchangeSeconds> tensorGroup) {
    return tensorGroup.stream()
        .mapToDouble(seconds -> again(depth).stream().mapToDouble(seconds::forward).sum())
        .sum();
  }

  /** What messages over the cuts of a stage take from each of its passes. */
  private double messages(int stage, LayerRange range) {
    int slice = loads.slice(stage % placement.depth());
    double[] bytes = loads.costs(stage % placement.depth()).cutBytes();
    double seconds =
        placement.first(stage) ? 0 : message(stage - 1, stage, bytes, range.first(), slice);
    return placement.last(stage)
        ? seconds
        : seconds + message(stage, stage + 1, bytes, range.last() + 1, slice);
  }

  private double message(int from, int to, double[] cutBytes, int cut, int slice) {
    MessageOverhead each = loads.whole().workload().cluster().software().message();
    boolean here = placement.rankOf(from) == placement.rankOf(to);
    return here ? 0 : each.of(cutBytes[cut] * slice);
  }

  private double transfer(int from, int to, double bytes) {
    int sender = placement.rankOf(from);
    int receiver = placement.rankOf(to);
    return sender == receiver
        ? 0
        : SplitConcat.betweenPasses(
                loads.whole().workload().cluster(), loads.devices(sender), loads.devices(receiver))
            .seconds(bytes);
  }

  /** Seconds of the sum of a stage's gradients that computing does not hide. */
  private double reduceSeconds(int depth) {
    StageLayers stage = assignment.stages().get(depth);
    StageCosts costs = loads.costs(depth);
    int[] devices =
        assignment.holders(depth).stream().mapToInt(worker -> loads.device(worker)).toArray();
    GradientSumSeconds sums =
        new GradientSumSeconds(
            costs,
            stage.range().first(),
            stage.range().last() + 1,
            stage.split(),
            StageGroups.of(costs, devices, stage.split()),
            tiedGradients(costs.workload()));
    return assignment.overlapped()
        ? sums.exposed(loads.slice(depth), loads.pace(depth))
        : sums.seconds();
  }

  /** Bytes of the gradients of tables that are summed by themselves, by layer. */
  private static double[] tiedGradients(Workload workload) {
    double each =
        (double) workload.training().gradientBytes() / workload.profile().precision().bytes();
    return Arrays.stream(GradientBytes.tied(workload)).map(bytes -> bytes * each).toArray();
  }
}
