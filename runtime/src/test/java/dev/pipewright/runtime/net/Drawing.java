package dev.pipewright.runtime.net;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Operator.Normalization;
import dev.pipewright.model.Operator.Pooling;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.parallel.Windows;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** A network while it is drawn. */
final class Drawing {
  private final List<Layer> layers = new ArrayList<>();
  private final List<Edge> edges = new ArrayList<>();

  Drawing(List<Integer> input) {
    layers.add(layer("input", List.of(new Operator.Input()), input, 0));
  }

  private static Layer layer(
      String name, List<Operator> steps, List<Integer> output, long parameters) {
    Optional<Shape> shape = Optional.of(new Shape(output));
    return new Layer(name, steps.get(0), steps, shape, parameters, 1, 1, Work.NONE);
  }

  int add(List<Operator> steps, List<Integer> output, int... reads) {
    int number = layers.size();
    layers.add(layer("layer" + number, steps, output, 1));
    for (int from : reads) {
      edges.add(new Edge(from, number));
    }
    return number;
  }

  List<Integer> shape(int layer) {
    return layers.get(layer).output().orElseThrow().extents();
  }

  /** A convolution or a pooling, and what follows it in the same layer. */
  int windows(int from, Operator operator, Operator... behind) {
    List<Integer> in = shape(from);
    Windows windows = Windows.of(operator).orElseThrow();
    List<Integer> out = new ArrayList<>(windows.places(in.subList(1, in.size())));
    out.add(0, operator instanceof Operator.Convolution c ? c.outChannels() : in.get(0));
    List<Operator> steps = new ArrayList<>(List.of(operator));
    steps.addAll(List.of(behind));
    return add(steps, out, from);
  }

  int same(int from, Operator operator) {
    return add(List.of(operator), shape(from), from);
  }

  int linear(int from, int out) {
    int in = shape(from).stream().reduce(1, (a, b) -> a * b);
    return add(List.of(new Operator.Linear(in, out, true)), List.of(out), from);
  }

  Members members(int samples, boolean inTwoParts) {
    long[] reads = new long[shape(0).size() + 1];
    reads[0] = samples;
    for (int i = 1; i < reads.length; i++) {
      reads[i] = shape(0).get(i - 1);
    }
    return new Members(new LayerGraph("drawn", layers, edges), reads, inTwoParts, true);
  }

  static Operator convolution(int in, int out, int kernel, int stride, int padding) {
    return convolution(in, out, List.of(kernel, kernel), stride, padding);
  }

  static Operator convolution(int in, int out, List<Integer> kernel, int stride, int padding) {
    int axes = kernel.size();
    return new Operator.Convolution(
        in,
        out,
        kernel,
        Collections.nCopies(axes, stride),
        Collections.nCopies(axes, padding),
        Collections.nCopies(axes, 1),
        1,
        true);
  }

  static Operator pooling(Pooling.Kind kind, int kernel, int stride, int padding) {
    return new Pooling(
        kind, List.of(kernel, kernel), List.of(stride, stride), List.of(padding, padding));
  }

  static Operator norm(int channels) {
    return new Normalization(Normalization.Kind.BATCH, channels);
  }
}
