package dev.pipewright.cost;

import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Samples;
import dev.pipewright.model.Work;
import dev.pipewright.units.Precision;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * How fast a network trains.
 *
 * @param samplesPerSecond over all devices
 * @param tokensPerSecond the same in tokens; empty where a sample is no sequence of them
 * @param flopPerSecond of each device, counted in FLOP of the model: forward pass and both
 *     gradients, whatever is computed a second time; empty where the work of layers is unknown
 * @param utilization of the model's FLOP (MFU): {@code flopPerSecond} as a share of the device's
 *     peak in the precision that it trains in; empty where either is unknown
 * @param fastConvolutions whether the cluster computes some of the model's convolutions with fewer
 *     multiplications than its FLOP count, so that the utilization may exceed 1
 */
public record Throughput(
    double samplesPerSecond,
    OptionalDouble tokensPerSecond,
    OptionalDouble flopPerSecond,
    OptionalDouble utilization,
    boolean fastConvolutions) {
  /** Peaks up to this stand for devices that nothing is known of. */
  private static final double UNKNOWN_PEAK = 1;

  /**
   * Of a workload.
   *
   * @param devices that take part
   */
  public static Throughput of(Workload workload, double samplesPerSecond, int devices) {
    LayerGraph graph = workload.chain().graph();
    double flop = modelFlop(graph) * samplesPerSecond / devices;
    OptionalInt tokens = Samples.tokens(graph);
    return new Throughput(
        samplesPerSecond,
        tokens.isPresent()
            ? OptionalDouble.of(samplesPerSecond * tokens.getAsInt())
            : OptionalDouble.empty(),
        flop > 0 ? OptionalDouble.of(flop) : OptionalDouble.empty(),
        utilization(workload, flop),
        Roofline.usesFastConvolutions(workload.cluster(), workload.training(), graph));
  }

  private static OptionalDouble utilization(Workload workload, double flop) {
    Precision precision = workload.training().precision();
    double peak = Double.POSITIVE_INFINITY;
    for (DeviceKind kind : workload.cluster().devices()) {
      peak = Math.min(peak, kind.peak(precision).value());
    }
    return flop > 0 && peak > UNKNOWN_PEAK
        ? OptionalDouble.of(flop / peak)
        : OptionalDouble.empty();
  }

  /** FLOP of a training step for one sample; 0 where the work of layers is unknown. */
  public static double modelFlop(LayerGraph graph) {
    double flop = 0;
    for (Layer layer : graph.layers()) {
      Work work = layer.work();
      flop += work.forward() + work.inputGradient() + work.weightGradient();
    }
    return flop;
  }
}
