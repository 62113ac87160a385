package dev.pipewright.formats.trace;

import dev.pipewright.formats.trace.KinetoContexts.Phase;
import dev.pipewright.formats.trace.KinetoEvents.Host;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The layers of a rank with their times, medians over its counted steps, in the order of their
 * first forward pass. Sizes are known where the profiler recorded shapes.
 */
final class TracedLayers {
  /**
   * A layer.
   *
   * @param number among the rank's
   * @param forward seconds of all its passes in a step; kernels of several streams count apart
   * @param inputElements of its first input, for all samples of a step's last pass; 0 where unknown
   * @param parameters elements of the weights of its products, convolutions and normalizations
   */
  record Traced(
      int number,
      String name,
      double forward,
      double backward,
      long inputElements,
      long samples,
      long parameters,
      int elementBytes) {}

  private static final Map<String, int[]> WEIGHTS = // which inputs of an operator are learned
      Map.of(
          "aten::linear", new int[] {1, 2},
          "aten::conv1d", new int[] {1, 2},
          "aten::conv2d", new int[] {1, 2},
          "aten::conv3d", new int[] {1, 2},
          "aten::layer_norm", new int[] {2, 3},
          "aten::batch_norm", new int[] {1, 2},
          "aten::embedding", new int[] {0});

  private final TracedRank rank;
  private final List<Integer> steps;
  private final int count;

  private TracedLayers(TracedRank rank) {
    this.rank = rank;
    this.steps = rank.counted();
    this.count = rank.contexts.layers.size();
  }

  static List<Traced> of(TracedRank rank) {
    return new TracedLayers(rank).layers();
  }

  /** Seconds of the update of all layers in a step. */
  static double update(TracedRank rank) {
    TracedLayers layers = new TracedLayers(rank);
    double[] seconds = new double[layers.steps.size()];
    Map<Integer, Integer> positions = layers.positions();
    for (TraceWork work : rank.works) {
      Integer step = positions.get(work.step());
      if (step != null && work.type() == TraceWork.Type.UPDATE) {
        seconds[step] += work.seconds();
      }
    }
    return median(seconds);
  }

  /** The position of each counted step among these. */
  private Map<Integer, Integer> positions() {
    Map<Integer, Integer> positions = new HashMap<>();
    steps.forEach(step -> positions.put(step, positions.size()));
    return positions;
  }

  private List<Traced> layers() {
    double[][] forward = new double[count][steps.size()];
    double[][] backward = new double[count][steps.size()];
    double[] first = new double[count];
    Arrays.fill(first, Double.POSITIVE_INFINITY);
    Map<Integer, Integer> positions = positions();
    for (TraceWork work : rank.works) {
      Integer step = positions.get(work.step());
      int layer = work.layer();
      if (step == null || layer < 0) {
        continue;
      }
      if (work.type() == TraceWork.Type.FORWARD) {
        forward[layer][step] += work.seconds();
        if (step == 0) {
          first[layer] = Math.min(first[layer], work.start());
        }
      } else if (work.type() == TraceWork.Type.BACKWARD) {
        backward[layer][step] += work.seconds();
      }
    }
    Map<Integer, Sizes> sizes = sizes();
    boolean trains = Arrays.stream(backward).anyMatch(layer -> median(layer) > 0);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (!Double.isInfinite(first[i]) && keeps(median(forward[i]), median(backward[i]), trains)) {
        order.add(i);
      }
    }
    order.sort(Comparator.comparingDouble(i -> first[i]));
    List<Traced> layers = new ArrayList<>();
    for (int i : order) {
      Sizes of = sizes.getOrDefault(i, Sizes.UNKNOWN);
      layers.add(
          new Traced(
              i,
              rank.contexts.layers.text(i),
              median(forward[i]),
              median(backward[i]),
              of.input,
              of.samples,
              of.parameters,
              of.elementBytes));
    }
    return layers;
  }

  /** Operators without a backward pass prepare others; modules and ranges are layers anyway. */
  private boolean keeps(double forward, double backward, boolean trains) {
    boolean trainedOps = trains && rank.contexts.source == KinetoContexts.Source.OPS;
    return trainedOps ? backward > 0 : forward + backward > 0;
  }

  static double median(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int n = sorted.length;
    return n == 0 ? 0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  }

  private record Sizes(long input, long samples, long parameters, int elementBytes) {
    static final Sizes UNKNOWN = new Sizes(0, 0, 0, 4);
  }

  /** Of the layers of the first counted step, from the shapes of their operators. */
  private Map<Integer, Sizes> sizes() {
    KinetoEvents events = rank.events;
    Map<Integer, Sizes> sizes = new LinkedHashMap<>();
    List<Integer> hosts = new ArrayList<>();
    for (int i = 0; i < events.hosts(); i++) {
      if (events.is(i, Host.OP)
          && rank.contexts.phase[i] == Phase.FORWARD
          && rank.contexts.layer[i] >= 0
          && rank.contexts.step(events.hostStart.at(i)) == steps.get(0)) {
        hosts.add(i);
      }
    }
    hosts.sort(Comparator.comparingLong(events.hostStart::at));
    for (int host : hosts) {
      String text = events.dimensions.text((int) events.hostDimensions.at(host));
      List<long[]> inputs = Dimensions.inputs(text);
      String op = events.hostName(host);
      Sizes before = sizes.get(rank.contexts.layer[host]);
      long parameters = before == null ? 0 : before.parameters;
      for (int input : WEIGHTS.getOrDefault(op, new int[0])) {
        parameters += input < inputs.size() ? Dimensions.elements(inputs.get(input)) : 0;
      }
      int data = op.equals("aten::embedding") ? 1 : 0;
      long[] shape = data < inputs.size() ? inputs.get(data) : new long[0];
      Sizes now =
          before != null && before.input > 0
              ? new Sizes(before.input, before.samples, parameters, before.elementBytes)
              : new Sizes(
                  Dimensions.elements(shape),
                  shape.length == 0 ? 0 : shape[0],
                  parameters,
                  ElementBytes.of(Dimensions.type(text)));
      sizes.put(rank.contexts.layer[host], now);
    }
    return sizes;
  }
}
