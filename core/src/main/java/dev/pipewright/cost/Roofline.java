package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * Derives a profile from shapes and a device's peaks, where none was measured.
 *
 * <p>Paper: S. Williams, A. Waterman, D. Patterson, <i>Roofline: an insightful visual performance
 * model for multicore architectures</i>, CACM 52 (2009), doi:10.1145/1498765.1498785: a kernel runs
 * at the lower of what arithmetic and what memory allow. For each pass of a layer
 *
 * <pre>
 *   seconds = max(FLOP / (peak · efficiency · rows / (rows + HALF_ROWS)), weight bytes / rate)
 *           + activation bytes / rate + launches · LAUNCH          rate = bandwidth · MEMORY
 * </pre>
 *
 * <p>Departs: the activations' traffic is added instead of hidden, because biases, activation
 * functions and normalisations run as kernels of their own. <i>rows</i> are how often a pass uses
 * each weight; few rows fill the device badly. The backward pass moves {@link #BACKWARD_TRAFFIC}
 * times what the forward pass moves in {@link #BACKWARD_LAUNCHES} times as many kernels; its weight
 * gradient is a product of its own that writes the gradient.
 *
 * <p>O(layers) for each slice size. The constants hold for no model in particular: they were chosen
 * so that the sums over the five profiles that the authors of DAPPLE (PPoPP 2021) took on a V100 in
 * 32 bits come out within a tenth; {@code RooflineTest} has the table.
 */
public final class Roofline {
  /** Share of the peak that large matrix products reach: cuBLAS and cuDNN in 32 bits. */
  static final double MATRIX = 0.9;

  /** The same on tensor cores, where operands rarely arrive fast enough. */
  static final double MATRIX_TENSOR_CORES = 0.5;

  /**
   * 3 × 3 convolutions of stride 1 in 32 bits exceed the peak, counted in direct FLOP: Winograd's
   * algorithm has 2.25 to 4 times fewer multiplications (A. Lavin, S. Gray, CVPR 2016).
   */
  static final double WINOGRAD = 2.5;

  /** Convolutions in groups: little reuse in each. */
  static final double GROUPED = 0.25;

  /** Share of the memory's peak rate that streaming kernels reach. */
  static final double MEMORY = 0.7;

  /** At so many rows a matrix product reaches half of its efficiency: less than a tile of 64. */
  static final double HALF_ROWS = 48;

  /**
   * At so many columns a matrix product reaches half of its efficiency. The efficiencies above hold
   * for whole layers: this is only for what narrower parts lose beside them.
   */
  static final double HALF_COLUMNS = 32;

  /**
   * Elements that the backward pass moves for each that the forward pass moves: more for functions
   * and normalisations, fewer for biases and sums.
   */
  static final double BACKWARD_TRAFFIC = 1.25;

  /** Kernels of the backward pass for each of the forward pass: both gradients and their sums. */
  static final double BACKWARD_LAUNCHES = 3;

  /** Seconds that a kernel takes beside its work, in a framework that launches one by one. */
  static final double LAUNCH = 1e-5;

  private final Training training;
  private final double bytesPerElement;
  private final double peak;
  private final double rate;
  private final boolean fastConvolutions;

  /** The model of a cluster's first device. */
  public Roofline(Cluster cluster, Training training) {
    this(cluster.device(0), training, cluster.software().fastConvolutions());
  }

  private Roofline(DeviceKind kind, Training training, boolean fastConvolutions) {
    this.fastConvolutions = fastConvolutions;
    this.training = training;
    this.bytesPerElement = training.precision().bytes();
    this.peak = kind.peak(training.precision()).value();
    this.rate = kind.memoryBandwidth().value() * MEMORY;
  }

  /** The same on the first device of a cluster, with the software of the cluster. */
  public static Profile profile(
      LayerGraph graph, Cluster cluster, Training training, List<Integer> samples) {
    boolean fast = cluster.software().fastConvolutions();
    return profile(graph, cluster.device(0), training, samples, fast);
  }

  /** The same with fast convolutions. */
  public static Profile profile(
      LayerGraph graph, DeviceKind kind, Training training, List<Integer> samples) {
    return profile(graph, kind, training, samples, true);
  }

  /**
   * Sizes of all layers, and times at slices of {@code samples} samples, each positive, ascending.
   *
   * <p>A layer whose work is unknown ({@code Work.NONE}) costs its launches and its weights'
   * traffic.
   *
   * @param fastConvolutions see {@link dev.pipewright.cluster.Software}
   */
  public static Profile profile(
      LayerGraph graph,
      DeviceKind kind,
      Training training,
      List<Integer> samples,
      boolean fastConvolutions) {
    Roofline roofline = new Roofline(kind, training, fastConvolutions);
    List<LayerSizes> sizes = new ArrayList<>(graph.size());
    for (Layer layer : graph.layers()) {
      sizes.add(roofline.sizes(layer));
    }
    List<List<LayerTimes>> times = new ArrayList<>(samples.size());
    for (int slice : samples) {
      Check.that(slice >= 1, "a slice has samples: slice=%d", slice);
      List<LayerTimes> table = new ArrayList<>(graph.size());
      for (Layer layer : graph.layers()) {
        table.add(roofline.times(layer, slice));
      }
      times.add(table);
    }
    Provenance provenance = new Provenance("roofline of zoo shapes", kind.name(), "", false);
    return new Profile(provenance, training.precision(), sizes, samples, times);
  }

  private LayerSizes sizes(Layer layer) {
    return new LayerSizes(
        layer.outputElements() * bytesPerElement,
        layer.keptElements() * bytesPerElement,
        layer.parameters() * bytesPerElement);
  }

  private LayerTimes times(Layer layer, int slice) {
    return times(layer, slice, PartShares.WHOLE, layer.work().forwardElements());
  }

  /** Seconds in which so many elements are read or written. */
  double moving(double elements) {
    return elements * bytesPerElement / rate;
  }

  /**
   * Seconds of a part of a layer. Few filters or channels fill the device badly, as few rows do.
   *
   * @param samples of the slice; fractions allowed
   * @param readElements elements of the whole layer's inputs for one sample
   */
  public LayerTimes partTimes(Layer layer, double samples, PartShares part, double readElements) {
    double read = Math.min(readElements, layer.work().forwardElements());
    double written = layer.work().forwardElements() - read;
    double moved = (read * part.channels() + written * part.filters()) * part.positions();
    return times(layer, samples, part, moved);
  }

  private LayerTimes times(Layer layer, double slice, PartShares part, double movedElements) {
    if (layer.operator() instanceof Operator.Input || layer.operator() instanceof Operator.Tokens) {
      return new LayerTimes(0, 0, 0, 0);
    }
    var work = layer.work();
    double rows = rows(layer, slice * part.positions());
    double weights = weightBytes(layer) * part.weights() / rate;
    double moved = movedElements * slice * bytesPerElement / rate;
    double launches = launches(layer.operator()) * LAUNCH;
    double share = slice * part.work() * narrowness(layer.operator(), part);
    double forward = Math.max(arithmetic(layer, work.forward() * share, rows), weights);
    double input = Math.max(arithmetic(layer, work.inputGradient() * share, rows), weights);
    double weightGradient = 0;
    if (layer.parameters() > 0) {
      double written = layer.parameters() * part.weights() * training.gradientBytes() / rate;
      weightGradient = Math.max(arithmetic(layer, work.weightGradient() * share, rows), written);
    }
    double backward =
        input + weightGradient + BACKWARD_TRAFFIC * moved + BACKWARD_LAUNCHES * launches;
    double update = update(layer) * part.weights();
    return new LayerTimes(forward + moved + launches, backward, weightGradient, update);
  }

  /** How much longer a FLOP takes where only some of a layer's columns are left to a device. */
  private static double narrowness(Operator operator, PartShares part) {
    int filters = 0;
    int channels = 0;
    if (operator instanceof Operator.Convolution convolution) {
      filters = convolution.outChannels();
      channels = convolution.inChannels();
    } else if (operator instanceof Operator.Linear linear) {
      filters = linear.out();
      channels = linear.in();
    } else {
      return 1;
    }
    return narrowness(filters, part.filters()) * narrowness(channels, part.channels());
  }

  private static double narrowness(int columns, double share) {
    return (1 + HALF_COLUMNS / (columns * share)) / (1 + HALF_COLUMNS / columns);
  }

  private double arithmetic(Layer layer, double flop, double rows) {
    return flop * (1 + HALF_ROWS / rows) / (peak * efficiency(layer.operator()));
  }

  /**
   * How often a pass over {@code slice} samples uses each weight; without bound where there are
   * none.
   */
  private static double rows(Layer layer, double slice) {
    double flop = layer.work().forward() * slice;
    boolean product = layer.parameters() > 0 && flop > 0;
    return product ? flop / (2.0 * layer.parameters()) : Double.POSITIVE_INFINITY;
  }

  private double efficiency(Operator operator) {
    boolean tensorCores = training.precision().onTensorCores();
    double matrix = tensorCores ? MATRIX_TENSOR_CORES : MATRIX;
    if (operator instanceof Operator.Convolution convolution) {
      if (convolution.groups() > 1) {
        return Math.min(GROUPED, matrix);
      }
      boolean fast = fastConvolutions && !tensorCores && suitsWinograd(convolution);
      return fast ? WINOGRAD : matrix;
    }
    return matrix;
  }

  /** Whether a cluster computes some convolution of a network with fewer multiplications. */
  static boolean usesFastConvolutions(Cluster cluster, Training training, LayerGraph graph) {
    return cluster.software().fastConvolutions()
        && !training.precision().onTensorCores()
        && graph.layers().stream()
            .anyMatch(layer ->
                layer.operator() instanceof Operator.Convolution convolution
                    && convolution.groups() == 1
                    && suitsWinograd(convolution));
  }

  private static boolean suitsWinograd(Operator.Convolution convolution) {
    return all(convolution.kernel(), 3)
        && all(convolution.stride(), 1)
        && all(convolution.dilation(), 1);
  }

  private static boolean all(List<Integer> extents, int value) {
    for (int extent : extents) {
      if (extent != value) {
        return false;
      }
    }
    return true;
  }

  /** Bytes of weights that a pass reads: none of a table; recurrent ones again at every step. */
  private double weightBytes(Layer layer) {
    double bytes = layer.parameters() * bytesPerElement;
    if (layer.operator() instanceof Operator.Embedding) {
      return 0;
    }
    if (layer.operator() instanceof Operator.Lstm lstm) {
      double recurrent = (double) lstm.hidden() / (lstm.in() + lstm.hidden());
      return bytes * (1 + recurrent * (lstm.sequence() - 1));
    }
    return bytes;
  }

  /**
   * Kernels of a forward pass. Tests instead of a pattern switch: linking the switch is a good part
   * of what a first profile costs.
   */
  private static int launches(Operator operator) {
    if (operator instanceof Operator.Block block) {
      return launches(block.kind());
    }
    if (operator instanceof Operator.TransformerBlock
        || operator instanceof Operator.ShapedBlock
        || operator instanceof Operator.AttentionLstm) {
      return 40;
    }
    if (operator instanceof Operator.Convolution convolution) {
      return convolution.bias() ? 3 : 1; // product, bias, activation
    }
    if (operator instanceof Operator.Linear linear) {
      return linear.bias() ? 2 : 1;
    }
    if (operator instanceof Operator.Lstm lstm) {
      return 2 + lstm.sequence() / 2; // the products with input and state overlap
    }
    return operator instanceof Operator.Attention ? 16 : 1;
  }

  private static int launches(String block) {
    return switch (block) {
      case "transformer block" -> 40;
      case "cell" -> 48; // 13 convolutions of three kernels, pools and sums
      default -> 10;
    };
  }

  /** Everything static is read, everything but the gradient is written. */
  private double update(Layer layer) {
    Optimizer optimizer = training.optimizer();
    double traffic =
        2 * optimizer.bytesPerParameter(training.precision()) - training.gradientBytes();
    return layer.parameters() * traffic / rate;
  }
}
