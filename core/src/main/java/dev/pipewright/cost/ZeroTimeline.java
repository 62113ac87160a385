package dev.pipewright.cost;

import dev.pipewright.cost.ZeroSeconds.Wire;
import dev.pipewright.exchange.HeldBy;
import dev.pipewright.exchange.Segment;
import dev.pipewright.exchange.ZeroStates;
import dev.pipewright.exchange.ZeroStates.Shard;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.Op.Pass;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/** The timeline of a stage under ZeRO while a worker runs its passes ({@link ZeroSeconds}). */
public final class ZeroTimeline implements ZeroStates.Steps {
  private final ZeroStates states;
  private final StageGroups groups;
  private final Wire wire;
  private final double element; // bytes of a parameter
  private final double gradient; // of its gradient
  private final double[] forward; // by segment
  private final double[] backward;
  private final double[] input;
  private final double[] weight;
  private final double[] comes; // when parameters are there; NaN where not asked for
  private final Map<Pass, Sum> passes = new EnumMap<>(Pass.class);
  private int left; // passes that give gradients
  private double summed; // when the sum under way ends
  private double afterPasses; // seconds after the last pass
  private double communication; // seconds of exchanges
  private double computed; // in the pass at hand
  private double waited;
  private double gathering; // seconds of waits for parameters in passes
  private double exposed; // seconds of all communication in them

  /** Of one kind of passes. */
  private static final class Sum {
    private int count;
    private double seconds;
    private double communication;
  }

  /**
   * @param passes of a step that give gradients
   */
  ZeroTimeline(StageLoads loads, int depth, ZeroStates states, Wire wire, int passes) {
    this.states = states;
    this.groups = loads.groups(depth);
    this.wire = wire;
    this.left = passes;
    this.element = loads.whole().workload().profile().precision().bytes();
    this.gradient = loads.whole().workload().training().gradientBytes();
    int count = states.segments().size();
    this.forward = new double[count];
    this.backward = new double[count];
    this.input = new double[count];
    this.weight = new double[count];
    this.comes = new double[count];
    Arrays.fill(comes, Double.NaN);
    for (int i = 0; i < count; i++) {
      Segment segment = states.segments().get(i);
      LayerRange range = segment.range();
      forward[i] = loads.seconds(Quantity.FORWARD, depth, range);
      double again = segment.again() ? forward[i] : 0;
      backward[i] = loads.seconds(Quantity.BACKWARD, depth, range) + again;
      input[i] = loads.seconds(Quantity.INPUT_GRADIENT, depth, range) + again;
      weight[i] = loads.seconds(Quantity.WEIGHT_GRADIENT, depth, range);
    }
  }

  /** Runs a pass; see {@link ZeroStates#walk}. */
  void run(Pass pass, boolean recomputing) {
    left -= pass.releases() ? 1 : 0;
    if (states.communicates(pass, left == 0)) {
      communicating(pass, recomputing);
    } else {
      Sum sum = sum(pass);
      sum.count++;
      sum.seconds += computed(pass, recomputing);
    }
  }

  /** Seconds of a pass that computes alone, as nearly all do. */
  private double computed(Pass pass, boolean recomputing) {
    double sum = 0;
    boolean forwards = pass == Pass.FORWARD || pass == Pass.RECOMPUTE;
    if (recomputing || forwards) {
      for (double seconds : forward) {
        sum += seconds;
        wire.compute(seconds);
      }
    }
    if (!forwards) {
      double[] segments = bySegment(pass);
      for (int segment = segments.length - 1; segment >= 0; segment--) {
        sum += segments[segment];
        wire.compute(segments[segment]);
      }
    }
    return sum;
  }

  private Sum sum(Pass pass) {
    Sum known = passes.get(pass);
    return known == null ? passes.computeIfAbsent(pass, key -> new Sum()) : known;
  }

  private void communicating(Pass pass, boolean recomputing) {
    double begin = wire.waited();
    double before = wire.communication();
    computed = 0;
    states.walk(pass, recomputing, left == 0, this);
    double lost = wire.waited() - begin;
    Sum sum = sum(pass);
    sum.count++;
    sum.communication += wire.communication() - before;
    sum.seconds += computed;
    if (states.eachPass()) {
      sum.seconds += lost;
      exposed += lost;
    } else { // the last pass alone
      afterPasses += lost;
    }
    communication += wire.communication() - before;
    waited += lost;
  }

  @Override
  public void need(int segment) {
    ahead(segment);
    double before = wire.waited();
    wire.await(comes[segment]);
    gathering += wire.waited() - before;
  }

  @Override
  public void ahead(int segment) {
    if (Double.isNaN(comes[segment])) {
      double seconds = 0;
      for (Shard shard : states.shards(segment)) {
        seconds += group(shard).allGather(shard.whole() * element);
      }
      comes[segment] = wire.begin(seconds);
    }
  }

  @Override
  public void compute(int segment, Pass pass) {
    double seconds = bySegment(pass)[segment];
    computed += seconds;
    wire.compute(seconds);
    comes[segment] = Double.NaN;
  }

  private double[] bySegment(Pass pass) {
    return switch (pass) {
      case FORWARD, RECOMPUTE -> forward;
      case BACKWARD -> backward;
      case BACKWARD_INPUT -> input;
      case BACKWARD_WEIGHT -> weight;
      case UPDATE, REDUCE, GATHER, HAND_ON -> throw new IllegalStateException("no pass: " + pass);
    };
  }

  @Override
  public void addUp(int segment) {
    for (Shard shard : states.shards(segment)) {
      wire.await(summed);
      summed = wire.begin(group(shard).reduceScatter(shard.whole() * gradient));
    }
  }

  private Collectives group(Shard shard) {
    return groups.of(shard.heldBy());
  }

  /** Waits for the last sum. */
  void finish() {
    double before = wire.now();
    wire.await(summed);
    afterPasses += wire.now() - before;
    waited += wire.now() - before;
  }

  /** Sums something after all passes. */
  void sum(double seconds) {
    afterPasses += seconds;
  }

  /** Counts what computing loses to what it hides. */
  void slow(double overlap) {
    double lost = (1 - overlap) * Math.max(0, communication - waited);
    if (!states.eachPass()) {
      afterPasses += lost;
      return;
    }
    exposed += communication == 0 ? 0 : lost;
    for (Sum sum : passes.values()) {
      sum.seconds += communication == 0 ? 0 : lost * sum.communication / communication;
    }
  }

  /** Seconds of a pass; 0 where there is none of the kind. */
  public double seconds(Pass pass) {
    Sum sum = passes.get(pass);
    return sum == null ? 0 : sum.seconds / sum.count;
  }

  /** Seconds of a step's passes in which parameters are waited for. */
  public double gatherSeconds() {
    return gathering;
  }

  /** Seconds of them in which sums of gradients are, or which computing loses to communication. */
  public double sumSeconds() {
    return Math.max(0, exposed - gathering); // never below by rounding
  }

  /** Seconds after the last pass until all sums of gradients are there. */
  public double afterPasses() {
    return afterPasses;
  }

  /** Numbers of the worker's parameters that are no tied table's. */
  double numbers() {
    double numbers = 0;
    for (int segment = 0; segment < forward.length; segment++) {
      numbers += states.kept(segment);
      numbers += states.shards(segment).stream().mapToLong(Shard::numbers).sum();
    }
    return numbers;
  }

  /** Those that it brings up to date. */
  double updated() {
    double numbers = 0;
    for (int segment = 0; segment < forward.length; segment++) {
      numbers += states.kept(segment);
      numbers += states.shards(segment).stream().mapToLong(Shard::part).sum();
    }
    return numbers;
  }

  /** Seconds until all have the parameters that are new. */
  double allGatherUpdated() {
    if (states.gathered()) {
      return 0;
    }
    double seconds = 0;
    for (HeldBy holders : HeldBy.values()) {
      double bytes = 0;
      for (Shard shard : states.shards()) {
        bytes += shard.heldBy() == holders ? shard.whole() * element : 0;
      }
      seconds += groups.of(holders).allGather(bytes);
    }
    return seconds;
  }
}
