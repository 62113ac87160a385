package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.exchange.Segment;
import dev.pipewright.exchange.TiedStates;
import dev.pipewright.exchange.ZeroStates;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.Recompute;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Seconds of the ops of a rank under ZeRO. A worker runs the rank's program alone, as if all inputs
 * from other stages arrived in time; parameters and gradient sums are sent one after another,
 * overlapped with computation until they are needed. Each op of a kind takes the mean of all.
 *
 * <p>Overlapped communication slows computation ({@link dev.pipewright.cluster.Software#overlap}).
 */
public final class ZeroSeconds {
  private final StageLoads loads;
  private final Assignment assignment;
  private final @Nullable ZeroTimeline[] stages; // of a chain, those of the rank
  private final Wire wire = new Wire();
  private final List<TiedStates> tied; // of the rank

  /** What a worker's exchanges go over, and its clock. */
  static final class Wire {
    private double now;
    private double free;
    private double communication;
    private double waited;

    /** When it ends. */
    double begin(double seconds) {
      free = Math.max(free, now) + seconds;
      communication += seconds;
      return free;
    }

    void await(double end) {
      waited += Math.max(0, end - now);
      now = Math.max(now, end);
    }

    void compute(double seconds) {
      now += seconds;
    }

    double now() {
      return now;
    }

    /** Seconds of all waits so far. */
    double waited() {
      return waited;
    }

    /** Seconds of all exchanges so far. */
    double communication() {
      return communication;
    }
  }

  /** Of a rank of an assignment that shards its states. */
  public ZeroSeconds(StageLoads loads, Assignment assignment, int rank) {
    this.loads = loads;
    this.assignment = assignment;
    this.tied =
        TiedStates.of(assignment, loads.whole().workload().chain(), assignment.firstWorker(rank));
    this.stages = new ZeroTimeline[assignment.stages().size()];
    BitSet again = new BitSet(); // what has been computed again
    for (long op : assignment.schedule().packed(rank)) {
      int depth = depth(op);
      ZeroTimeline stage = stages[depth];
      if (stage == null) {
        stage = stage(depth, rank);
        stages[depth] = stage;
      }
      stage.run(Schedule.pass(op), recomputing(op, again));
    }
    timelines().forEach(ZeroTimeline::finish);
    for (TiedStates tied : tied) {
      Collectives group = loads.group(tied);
      double bytes = tied.whole() * (double) loads.whole().workload().training().gradientBytes();
      stage(tied.depths().get(0))
          .sum(tied.shared() ? group.reduceScatter(bytes) : group.allReduce(bytes));
    }
    double overlap = cluster().software().overlap();
    timelines().forEach(each -> each.slow(overlap));
  }

  private Stream<ZeroTimeline> timelines() {
    return Arrays.stream(stages).filter(Objects::nonNull);
  }

  private Chain chain() {
    return loads.whole().workload().chain();
  }

  private Cluster cluster() {
    return loads.whole().workload().cluster();
  }

  private double element() {
    return loads.whole().workload().profile().precision().bytes();
  }

  private int depth(long op) {
    return Schedule.stage(op) % assignment.schedule().placement().depth();
  }

  /** What a stage of a chain takes. */
  public ZeroTimeline stage(int depth) {
    return Objects.requireNonNull(stages[depth]);
  }

  private ZeroTimeline stage(int depth, int rank) {
    ZeroStates states =
        ZeroStates.of(
            assignment,
            depth,
            assignment.firstWorker(rank),
            chain(),
            loads.costs(depth).held(assignment.stages().get(depth).split()),
            Segment.BUCKET_BYTES);
    int passes = assignment.schedule().gradientPasses(rank, depth);
    return new ZeroTimeline(loads, depth, states, wire, passes);
  }

  /**
   * Whether a pass begins with its forward pass run again.
   *
   * @param again stages with micro-batches whose forward pass has been run again; this one is added
   */
  private boolean recomputing(long op, BitSet again) {
    Pass pass = Schedule.pass(op);
    if (!pass.propagates() && pass != Pass.RECOMPUTE) {
      return false;
    }
    StageLayers layers = assignment.layers(Schedule.stage(op), Schedule.microBatch(op));
    if (layers.recompute() != Recompute.STAGE_INPUT) {
      return false;
    }
    int place = Schedule.stage(op) * assignment.schedule().microBatches() + Schedule.microBatch(op);
    boolean first = !again.get(place);
    again.set(place);
    return first && pass.propagates();
  }

  /** Seconds of a stage's update: of the worker's part of it. */
  public double update(int depth) {
    ZeroTimeline own = stage(depth);
    double numbers = own.numbers();
    double updated = own.updated();
    for (TiedStates tied : tied) {
      numbers += tied.depths().contains(depth) ? tied.table().numbers() : 0;
      updated += tied.depths().get(0) == depth ? tied.part() : 0;
    }
    double whole = loads.seconds(Quantity.UPDATE, depth, assignment.stages().get(depth).range());
    return numbers == 0 ? whole : whole * updated / numbers;
  }

  /** Seconds after it until all have what is new. */
  public double allGatherUpdated(int depth) {
    double seconds = stage(depth).allGatherUpdated();
    for (TiedStates tied : tied) {
      boolean first = tied.depths().get(0) == depth;
      seconds += tied.shared() && first ? loads.group(tied).allGather(tied.whole() * element()) : 0;
    }
    return seconds;
  }
}
