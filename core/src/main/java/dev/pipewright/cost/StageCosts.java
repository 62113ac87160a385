package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.model.Chain;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What any run of layers costs as a stage: O(1) for each question after O(layers) preparation, once
 * per slice size.
 *
 * <p>A stage is given by {@code first} and {@code end}: positions {@code first..end-1} of the
 * chain. A micro-batch of {@code samples} on {@code r} devices is split as evenly as whole samples
 * allow; the slowest device, with {@code ⌈samples/r⌉}, sets the pace.
 */
public final class StageCosts {
  private static final List<Quantity> FORWARD = List.of(Quantity.FORWARD);
  private static final List<Quantity> BOTH = List.of(Quantity.FORWARD, Quantity.BACKWARD);

  private final Workload workload;
  private final int[] ends; // for each end that may be chosen the end in the chain; 0 first
  private final boolean total;
  private final double[] parameterBytes; // index end: of positions 0..end-1
  private final double[] keptBytes; // for one sample
  private final double[] cutBytes; // index end: activation that crosses a cut before position end
  private final double[] updateSeconds;
  private final Remembered<Integer, Times> times = new Remembered<>(); // by slice size
  private final Remembered<Slices, double[]> sums = new Remembered<>();
  private final Remembered<Parallelism, ShardedParameters> held = new Remembered<>();
  private final double[] gradientBytes; // likewise
  private final double staticPerParameterByte;
  private final double gradientPerParameterByte;
  private final TableCopies tables;
  private final double referencePeak;

  /**
   * Cumulative seconds of positions {@code 0..end-1} for one slice size, and what the hungriest of
   * all layers needs.
   */
  private record Times(double[] forward, double[] backward, double workingBytes) {}

  private record Slices(Quantity quantity, int samples) {}

  /** Costs of stages that may be cut at every position of the chain. */
  public StageCosts(Workload workload) {
    this(workload, IntStream.rangeClosed(0, workload.chain().size()).toArray());
  }

  private StageCosts(Workload workload, int[] ends) {
    this.workload = workload;
    this.ends = ends;
    Chain chain = workload.chain();
    Profile profile = workload.profile();
    this.total = chain.total() || nested();
    this.parameterBytes = byEnd(chain.cumulative(profile.parameterBytes()));
    this.keptBytes = byEnd(chain.cumulative(profile.keptBytes()));
    this.cutBytes = cutBytes(profile.outputBytes());
    this.updateSeconds = byEnd(chain.cumulative(profile.seconds(Quantity.UPDATE, 1)));
    this.referencePeak = referencePeak(workload);
    this.tables = TableCopies.of(chain, profile);
    double weight = profile.precision().bytes();
    this.staticPerParameterByte = workload.training().staticBytesPerParameter() / weight;
    this.gradientPerParameterByte = workload.training().gradientBytes() / weight;
    this.gradientBytes = times(parameterBytes, gradientPerParameterByte);
  }

  /**
   * The same costs, cut only at some places: positions of the result are runs of the chain's.
   *
   * @param places ends of positions of the chain, ascending, from 0 to its size
   */
  public StageCosts cutOnlyAt(int[] places) {
    return new StageCosts(workload, places.clone());
  }

  private static double[] times(double[] bytes, double factor) {
    return factor == 1 ? bytes : Arrays.stream(bytes).map(each -> each * factor).toArray();
  }

  private boolean nested() {
    for (int i = 2; i < ends.length; i++) {
      if (!workload.chain().precedes(ends[i - 1] - 1, ends[i] - 1)) {
        return false;
      }
    }
    return true;
  }

  /** From values by position of the chain to values by end that may be chosen. */
  private double[] byEnd(double[] byPosition) {
    double[] result = new double[ends.length];
    for (int i = 1; i < ends.length; i++) {
      result[i] = byPosition[ends[i] - 1];
    }
    return result;
  }

  /** From figures by layer of the network to their sums by end that may be chosen. */
  public double[] cumulative(double[] byLayer) {
    return byEnd(workload.chain().cumulative(byLayer));
  }

  /** The same cuts of another workload of the same chain. */
  public StageCosts with(Workload other) {
    return new StageCosts(other, ends);
  }

  /** Where in the chain the position {@code first} begins, or the end {@code first} lies. */
  public int inChain(int first) {
    return ends[first];
  }

  /** The runs of the chain's positions that runs of these positions are. */
  public List<LayerRange> inChain(List<LayerRange> runs) {
    return runs.stream()
        .map(run -> new LayerRange(ends[run.first()], ends[run.last() + 1] - 1))
        .toList();
  }

  /** Whether every position follows the one before. */
  public boolean total() {
    return total;
  }

  /**
   * Whether positions {@code first..end-1} can be a stage: no branch of the network crosses its
   * front.
   */
  public boolean isStage(int first, int end) {
    return first < end
        && (total || first == 0 || workload.chain().precedes(ends[first] - 1, ends[end] - 1));
  }

  public Workload workload() {
    return workload;
  }

  /** The parameters that members of groups hold of layers that these divide so. */
  public ShardedParameters held(Parallelism split) {
    return held.of(split, each -> new ShardedParameters(workload.chain().graph(), each));
  }

  /** How many positions there are to cut after. */
  public int size() {
    return ends.length - 1;
  }

  /** Samples of the largest slice when {@code samples} are shared by {@code replicas} devices. */
  public static int slice(int samples, int replicas) {
    return (samples + replicas - 1) / replicas;
  }

  private Times times(int slice) {
    Check.that(slice >= 1, "a slice has samples: slice=%d", slice);
    return times.of(slice, this::read);
  }

  private Times read(int slice) {
    Chain chain = workload.chain();
    Profile profile = workload.profile();
    return new Times(
        byEnd(chain.cumulative(profile.seconds(Quantity.FORWARD, slice))),
        byEnd(chain.cumulative(profile.seconds(Quantity.BACKWARD, slice))),
        profile.workingBytes(slice));
  }

  /** Cumulative forward seconds by end for one slice size, for hot loops: read only. */
  public double[] forwardSeconds(int slice) {
    return times(slice).forward;
  }

  /** Cumulative backward seconds by end for one slice size, for hot loops: read only. */
  public double[] backwardSeconds(int slice) {
    return times(slice).backward;
  }

  /**
   * Forward and backward seconds that one sample costs at the slice size up to {@code samples} that
   * suits each layer best, cumulative by end: no slice is cheaper, sample for sample.
   */
  public double[] cheapestSecondsPerSample(int samples) {
    return cumulative(CheapestSlices.secondsPerSample(workload.profile(), samples, BOTH));
  }

  /** The same of the forward pass alone. */
  public double[] cheapestForwardSecondsPerSample(int samples) {
    return cumulative(CheapestSlices.secondsPerSample(workload.profile(), samples, FORWARD));
  }

  /** Cumulative seconds of the optimizer's step by end: read only. */
  public double[] updateSeconds() {
    return updateSeconds;
  }

  /** Bytes of a stage's weights; a table that two layers read counts once in each stage. */
  public double parameterBytes(int first, int end) {
    return parameterBytes[end] - parameterBytes[first] + tables.bytes(ends[first], ends[end]);
  }

  /** Bytes of a stage's gradients, of a table that two layers read as of its weights. */
  public double gradientBytes(int first, int end) {
    return parameterBytes(first, end) * gradientPerParameterByte;
  }

  /** Cumulative bytes of the profile's weights by end, as passes read them: read only. */
  public double[] parameterBytes() {
    return parameterBytes;
  }

  /** Cumulative bytes of the weights' gradients by end: read only. */
  public double[] gradientBytes() {
    return gradientBytes;
  }

  /** Bytes of one sample that cross a cut before each position; 0 at the start: read only. */
  public double[] cutBytes() {
    return cutBytes;
  }

  /** The same of other bytes, by layer of the network. */
  double[] cutBytes(double[] byLayer) {
    return byEnd(workload.chain().crossing(byLayer));
  }

  /** What one message over each of a stage's cuts takes from each of its passes of a slice. */
  public double messageSeconds(int first, int end, int slice) {
    return messageSeconds(first, end, slice, true, end < size());
  }

  /**
   * The same of a stage whose neighbours may be on its own devices.
   *
   * @param before whether what crosses its first cut is sent
   * @param after whether what crosses its last cut is sent
   */
  double messageSeconds(int first, int end, int slice, boolean before, boolean after) {
    MessageOverhead each = workload.cluster().software().message();
    double sent = before ? each.of(cutBytes[first] * slice) : 0;
    return sent + (after ? each.of(cutBytes[end] * slice) : 0);
  }

  /** Weights, gradients and optimizer state of a stage. */
  public double staticBytes(int first, int end) {
    return parameterBytes(first, end) * staticPerParameterByte;
  }

  /** Bytes of weights, gradients and optimizer state up to an end, as the profile counts them. */
  public double staticBytes(int end) {
    return parameterBytes[end] * staticPerParameterByte;
  }

  /**
   * What a stage holds beyond the differences of {@link #staticBytes(int)}.
   *
   * @param first position in the network's chain
   */
  public double copyBytes(int first, int end) {
    return tables.bytes(first, end) * staticPerParameterByte;
  }

  /** The same by category. */
  public States states(int first, int end) {
    return new States(
        parameterBytes(first, end), gradientBytes(first, end), staticBytes(first, end));
  }

  /** Cumulative bytes by end that layers keep of a sample for the backward pass: read only. */
  public double[] keptBytes() {
    return keptBytes;
  }

  /**
   * What a micro-batch in flight holds of a stage without recomputation: its input and all it
   * keeps.
   */
  public double heldBytes(int first, int end, int slice) {
    return (cutBytes[first] + keptBytes[end] - keptBytes[first]) * slice;
  }

  /** What a micro-batch in flight holds of a stage that recomputes: its input. */
  public double inputBytes(int first, int slice) {
    return cutBytes[first] * slice;
  }

  /** What a stage that recomputes needs during one backward pass beyond the inputs it holds. */
  public double recomputedBytes(int first, int end, int slice) {
    return (keptBytes[end] - keptBytes[first]) * slice;
  }

  /**
   * What any stage needs while it computes a slice, beyond what it holds: that of the network's
   * hungriest layer, wherever it is, so rather too much than too little. 0 where the profile does
   * not say.
   */
  public double workingBytes(int slice) {
    return times(slice).workingBytes;
  }

  /**
   * What each position of a stage costs for one slice, on the device that the profile is for; as
   * {@link #seconds(Quantity, int)} where branches leave a choice.
   */
  public LayerCosts layers(int first, int end, int slice) {
    double[] kept = Arrays.copyOfRange(byPosition(keptBytes), first, end);
    double[] input = Arrays.copyOfRange(cutBytes, first, end);
    for (int i = 0; i < kept.length; i++) {
      kept[i] *= slice;
      input[i] *= slice;
    }
    return new LayerCosts(
        Arrays.copyOfRange(byPosition(times(slice).forward), first, end),
        Arrays.copyOfRange(byPosition(times(slice).backward), first, end),
        kept,
        input);
  }

  /**
   * Seconds of a quantity of each position of the chain, for one slice. Where branches leave a
   * choice, a position behind a longer one takes none: the sum is right from the network's begin to
   * wherever all branches meet.
   */
  public double[] seconds(Quantity quantity, int slice) {
    return byPosition(cumulative(quantity, slice));
  }

  /**
   * From sums by end to figures by position. Where branches leave a choice, a position behind a
   * longer one has none, as in {@link #seconds(Quantity, int)}.
   */
  double[] byPosition(double[] sums) {
    double[] figures = new double[size()];
    double before = 0;
    for (int at = 0; at < figures.length; at++) {
      figures[at] = Math.max(0, sums[at + 1] - before); // sums differ by rounding
      before = Math.max(before, sums[at + 1]);
    }
    return figures;
  }

  /** Seconds of a quantity of a stage, for one slice. */
  public double seconds(Quantity quantity, int slice, int first, int end) {
    double[] sums = cumulative(quantity, slice);
    double copies = quantity == Quantity.UPDATE ? tables.updateSeconds(ends[first], ends[end]) : 0;
    return Math.max(0, sums[end] - sums[first] + copies);
  }

  private double[] cumulative(Quantity quantity, int slice) {
    return sums.of(
        new Slices(quantity, slice),
        of -> cumulative(workload.profile().seconds(of.quantity, of.samples)));
  }

  /** The slowdown of the fastest device. */
  public double fastest() {
    double least = Double.POSITIVE_INFINITY;
    for (int device = 0; device < workload.cluster().size(); device++) {
      least = Math.min(least, slowdown(device));
    }
    return least;
  }

  /** How many times slower {@code device} computes than the one the profile is for. */
  public double slowdown(int device) {
    return referencePeak / peak(workload, workload.cluster().device(device));
  }

  /**
   * How many times slower {@code device} computes than the one the profile is for: by the ratio of
   * peak rates, 1 where the profile names no kind of the cluster.
   */
  public static double slowdown(Workload workload, int device) {
    return referencePeak(workload) / peak(workload, workload.cluster().device(device));
  }

  private static double referencePeak(Workload workload) {
    Cluster cluster = workload.cluster();
    for (DeviceKind kind : cluster.devices()) {
      if (kind.name().equals(workload.profile().provenance().device())) {
        return peak(workload, kind);
      }
    }
    return peak(workload, cluster.device(0));
  }

  private static double peak(Workload workload, DeviceKind kind) {
    return kind.peak(workload.training().precision()).value();
  }
}
