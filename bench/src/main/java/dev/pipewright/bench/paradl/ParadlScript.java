package dev.pipewright.bench.paradl;

import dev.pipewright.bench.paradl.ScriptRun.Answer;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The arithmetic of the program of ParaDL's authors, as far as its answers tell: Table 3 of the
 * paper with its departures. What we could not find again is NaN.
 *
 * <ul>
 *   <li>Iterations are rounded up; a node has four devices; no weight update, no γ.
 *   <li>A layer's share of the network's seconds is 2 f + |w|, with f = 2 |w| positions
 *       (convolution), |w| (fully connected), k<sup>d</sup> C² positions (pooling), 4 |y| (batch
 *       normalisation), |y| (ReLU, addition), 0 (dropout); layers that are switched off take their
 *       whole time.
 *   <li>Memory counts no activations of ReLU and normalisation, except where positions are split.
 * </ul>
 */
final class ParadlScript {
  private static final int NODE = 4;
  private static final int RACK = 68;
  private static final double SIZE = 4; // bytes of a number
  private static final double CONGESTED = 8;

  private record Line(
      double in, double out, double weights, double share, boolean counted, boolean split) {}

  private final List<Line> lines = new ArrayList<>();
  private final int lastSplit;
  private final double samples;
  private final double seconds;
  private final ScriptRun run;

  ParadlScript(ModelFile file, ScriptRun run, Optional<List<Boolean>> switches) {
    LayerGraph graph = file.graph();
    for (int layer = 0; layer < graph.size(); layer++) {
      if (!(graph.layer(layer).operator() instanceof Operator.Input)) {
        boolean split = switches.isEmpty() || switches.get().get(layer);
        lines.add(line(graph, layer, split));
      }
    }
    this.lastSplit =
        IntStream.range(0, lines.size()).filter(i -> lines.get(i).split()).max().orElse(-1);
    this.samples = file.dataset().orElseThrow().samples();
    this.seconds =
        IntStream.range(0, graph.size())
                .mapToDouble(i ->
                    file.profile().times(0).get(i).forward()
                        + file.profile().times(0).get(i).backward())
                .sum()
            / file.profile().samples().get(0);
    this.run = run;
  }

  private static Line line(LayerGraph graph, int number, boolean split) {
    Layer layer = graph.layer(number);
    double in = graph.layer(graph.predecessors(number)[0]).outputElements();
    double out = layer.outputElements();
    double positions = out / layer.output().orElseThrow().extent(0);
    double weights = layer.parameters();
    double forward =
        switch (layer.operator()) {
          case Operator.Pooling pooling ->
              pooling.kernel().stream().reduce(1, Math::multiplyExact)
                  * Math.pow(layer.output().orElseThrow().extent(0), 2)
                  * positions;
          case Operator.Normalization normalization -> 4 * out;
          case Operator.Elementwise function -> function.function().equals("dropout") ? 0 : out;
          default -> layer.name().startsWith("CONV") ? 2 * weights * positions : weights;
        };
    boolean counted =
        !(layer.operator() instanceof Operator.Normalization)
            && !(layer.operator() instanceof Operator.Elementwise e && e.function().equals("relu"));
    double own = layer.operator() instanceof Operator.Normalization ? 0 : weights;
    return new Line(in, out, own, 2 * forward + own, counted, split);
  }

  private double iterations(Answer answer) {
    return Math.ceil(samples / answer.batch());
  }

  private static double latency(int devices) {
    return devices <= NODE
        ? 9e-6
        : devices <= RACK ? 4.031e-5 : devices <= 2 * RACK ? 4.049e-5 : 4.098e-5;
  }

  private static double secondsPerByte(int devices) {
    return devices <= NODE ? 1 / 50e9 : 1 / 12.5e9;
  }

  private double weightBytes() {
    return SIZE * lines.stream().mapToDouble(Line::weights).sum();
  }

  /** Seconds of an epoch. */
  double communication(Answer answer) {
    int devices = answer.devices();
    int groups = Math.max(1, devices / NODE);
    return switch (answer.strategy()) {
      case SERIAL -> 0;
      case DATA -> iterations(answer) * ring(devices, devices, weightBytes());
      case FILTER, CHANNEL -> iterations(answer) * layerWise(devices, (double) answer.batch());
      case DATA_FILTER ->
          iterations(answer)
              * (layerWise(NODE, (double) answer.batch() / groups) + betweenNodes(devices));
      case DATA_SPATIAL -> iterations(answer) * (ownNode() + betweenNodes(devices));
      default -> Double.NaN;
    };
  }

  private static double ring(int members, int devices, double bytes) {
    return 2 * (members - 1) * (latency(devices) + bytes / members * secondsPerByte(devices));
  }

  /** The whole weights on every device, at an eighth of the bandwidth. */
  private double betweenNodes(int devices) {
    int groups = devices / NODE;
    return groups <= 1 ? 0 : ring(groups, devices, CONGESTED * weightBytes());
  }

  private double layerWise(int devices, double batch) {
    double sum = 0;
    for (Line line : lines.subList(0, lines.size() - 1)) {
      double bytes = SIZE * batch * line.out() / devices;
      sum += line.split() ? latency(devices) + bytes * secondsPerByte(devices) : 0;
    }
    return 3 * (devices - 1) * sum;
  }

  /** What data+spatial exchanges inside a node in an iteration, from its answer for one node. */
  private double ownNode() {
    return run.answers().stream()
        .filter(a -> a.devices() == NODE)
        .mapToDouble(a -> a.communication() / iterations(a))
        .findFirst()
        .orElse(Double.NaN);
  }

  /** Seconds of an epoch. */
  double compute(Answer answer) {
    int devices = answer.devices();
    int groups = Math.max(1, devices / NODE);
    double split = share(0, lines.size(), true);
    double whole = share(0, lines.size(), false);
    return switch (answer.strategy()) {
      case SERIAL -> samples * seconds;
      case DATA -> samples * seconds / devices;
      case FILTER, CHANNEL, SPATIAL -> samples * seconds * (split / devices + whole);
      case DATA_FILTER ->
          iterations(answer) * answer.batch() / groups * seconds * (split / NODE + whole);
      case DATA_SPATIAL ->
          Math.ceil(samples / groups) * seconds * (split / NODE + share(0, lastSplit + 1, false));
      default -> Double.NaN;
    };
  }

  /** The layers' part of the network's seconds. */
  private double share(int first, int end, boolean split) {
    double all = lines.stream().mapToDouble(Line::share).sum();
    return lines.subList(first, end).stream()
            .filter(line -> line.split() == split)
            .mapToDouble(Line::share)
            .sum()
        / all;
  }

  /** Bytes of a device. */
  double memory(Answer answer) {
    int devices = answer.devices();
    int groups = Math.max(1, devices / NODE);
    return switch (answer.strategy()) {
      case SERIAL, DATA -> SIZE * counted((double) answer.batch() / devices) + 2 * weightBytes();
      case FILTER, CHANNEL ->
          SIZE * counted((double) answer.batch()) + weights(devices, (double) devices * devices);
      case DATA_FILTER -> SIZE * counted((double) answer.batch() / groups) + weights(1, NODE);
      case SPATIAL ->
          SIZE * everything((double) answer.batch(), devices, lines.size()) + 2 * weightBytes();
      case DATA_SPATIAL ->
          SIZE * everything((double) answer.batch() / groups, NODE, lastSplit + 1)
              + 2 * weightBytes();
      default -> Double.NaN;
    };
  }

  private double counted(double batch) {
    return 2
        * batch
        * lines.stream().filter(Line::counted).mapToDouble(l -> l.in() + l.out()).sum();
  }

  private double weights(double whole, double split) {
    return 2
        * SIZE
        * lines.stream().mapToDouble(l -> l.weights() / (l.split() ? split : whole)).sum();
  }

  private double everything(double batch, int parts, int end) {
    return 2
        * batch
        * lines.subList(0, end).stream()
            .mapToDouble(l -> (l.in() + l.out()) / (l.split() ? parts : 1))
            .sum();
  }
}
