package dev.pipewright.runtime.net;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Operator.Normalization;
import dev.pipewright.model.Operator.Pooling;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A layer of tiny extents and what it reads.
 *
 * @param steps its operators
 * @param output extents of one sample's output
 * @param reads extents of what it reads, samples included; of words where {@code words} names that
 *     input
 */
record Case(
    String name, List<Operator> steps, List<Integer> output, List<List<Integer>> reads, int words) {
  private static final int VOCABULARY = 7;
  private static final Operator LAYER_NORM = new Normalization(Normalization.Kind.LAYER, 4);
  private static final Operator BATCH_NORM = new Normalization(Normalization.Kind.BATCH, 4);
  private static final List<Integer> SEQUENCE = List.of(2, 5, 4);

  @Override
  public String toString() {
    return name;
  }

  /** Every operator that can be run. */
  static Stream<Case> all() {
    return Stream.of(images(), rows(), sequences(), transformers(), recurrent())
        .flatMap(List::stream);
  }

  private static List<Case> images() {
    Operator flat = new Operator.Convolution(4, 6, l(3, 2), l(2, 1), l(1, 2), l(1, 2), 2, true);
    Operator cubic =
        new Operator.Convolution(2, 3, l(2, 2, 3), l(1, 2, 1), l(1, 0, 1), l(1, 1, 1), 1, false);
    List<Integer> none = l(0, 0);
    List<Integer> image = l(2, 4, 5, 6);
    return List.of(
        one("convolution", flat, l(6, 3, 8), image),
        one("convolution in three dimensions", cubic, l(3, 4, 2, 4), l(2, 2, 3, 4, 4)),
        one("batch normalisation", BATCH_NORM, l(4, 5, 6), image),
        one("batch normalisation of rows", BATCH_NORM, l(4), l(6, 4)),
        one("maximum", pooling(Pooling.Kind.MAX, l(3, 2), l(2, 2), l(1, 1)), l(4, 3, 4), image),
        one("average", pooling(Pooling.Kind.AVERAGE, l(3, 2), l(2, 2), l(1, 1)), l(4, 3, 4), image),
        one(
            "average of all",
            pooling(Pooling.Kind.AVERAGE, l(5, 6), l(5, 6), none),
            l(4, 1, 1),
            image),
        one("maximum in three dimensions", cube(Pooling.Kind.MAX), l(2, 1, 2, 2), l(2, 2, 3, 4, 4)),
        one(
            "average in three dimensions",
            cube(Pooling.Kind.AVERAGE),
            l(2, 1, 2, 2),
            l(2, 2, 3, 4, 4)),
        many("sum", List.of(new Operator.Elementwise("add")), l(4, 5, 6), List.of(image, image)),
        many(
            "concatenation",
            List.of(new Operator.Concatenation()),
            l(7, 5, 6),
            List.of(image, l(2, 3, 5, 6))),
        many(
            "unit of three",
            List.of(
                flat,
                new Normalization(Normalization.Kind.BATCH, 6),
                new Operator.Elementwise("tanh")),
            l(6, 3, 8),
            List.of(image)),
        one("class token", new Operator.ClassToken(4), l(31, 4), image));
  }

  private static List<Case> rows() {
    return List.of(
        one("linear", new Operator.Linear(4, 3, true), l(5, 3), SEQUENCE),
        one("linear over a map", new Operator.Linear(24, 3, true), l(3), l(2, 4, 3, 2)),
        one("linear over the first step", new Operator.Linear(4, 3, false), l(3), SEQUENCE),
        one("relu", new Operator.Elementwise("relu"), l(5, 4), SEQUENCE),
        one("gelu", new Operator.Elementwise("gelu"), l(5, 4), SEQUENCE),
        one("tanh", new Operator.Elementwise("tanh"), l(5, 4), SEQUENCE),
        one("softmax", new Operator.Elementwise("softmax"), l(5, 4), SEQUENCE),
        one("dropout", new Operator.Elementwise("dropout"), l(5, 4), SEQUENCE),
        one("layer normalisation", LAYER_NORM, l(5, 4), SEQUENCE),
        one("root mean square", new Normalization(Normalization.Kind.RMS, 4), l(5, 4), SEQUENCE),
        one(
            "normalisation that learns nothing",
            new Normalization(Normalization.Kind.PLAIN, 4),
            l(5, 4),
            SEQUENCE));
  }

  private static List<Case> sequences() {
    List<Operator> table =
        List.of(
            new Operator.Embedding(VOCABULARY, 4),
            new Operator.Positions(9, 4),
            new Operator.Segments(2, 4),
            LAYER_NORM,
            new Operator.Mask(5));
    return List.of(
        new Case("embedding", table.subList(0, 1), l(5, 4), List.of(l(2, 5)), 0),
        new Case("embedding with all", table, l(5, 9), List.of(l(2, 5)), 0),
        many(
            "tied scores",
            List.of(LAYER_NORM, new Operator.TiedScores("table")),
            l(5, VOCABULARY),
            List.of(SEQUENCE)),
        one("attention", new Operator.Attention(4, 2, 5), l(5, 4), SEQUENCE));
  }

  private static List<Case> transformers() {
    List<Case> cases = new ArrayList<>();
    for (boolean causal : List.of(true, false)) {
      for (boolean first : List.of(true, false)) {
        Operator block = new Operator.TransformerBlock(4, 2, 5, causal, first);
        cases.add(one(block.toString(), block, l(5, 4), SEQUENCE));
      }
    }
    Operator masked = new Operator.TransformerBlock(4, 2, 5, false, false);
    cases.add(
        many(
            "masked block",
            List.of(masked, new Operator.Carried(5)),
            l(5, 9),
            List.of(l(2, 5, 9))));
    for (Operator.ShapedBlock block : ShapedBlocks.all(4, 5)) {
      cases.add(one(block.toString(), block, l(5, 4), SEQUENCE));
    }
    return cases;
  }

  private static List<Case> recurrent() {
    Operator lstm = new Operator.Lstm(8, 4, false, 5);
    return List.of(
        one("lstm", new Operator.Lstm(4, 3, false, 5), l(5, 3), SEQUENCE),
        one("lstm in both directions", new Operator.Lstm(4, 3, true, 5), l(5, 6), SEQUENCE),
        many(
            "lstm of a decoder",
            List.of(lstm, new Operator.Residual(4), new Operator.Carried(4)),
            l(5, 8),
            List.of(l(2, 5, 8))),
        new Case(
            "attention lstm",
            List.of(new Operator.AttentionLstm(VOCABULARY, 4)),
            l(3, 8),
            List.of(SEQUENCE, l(2, 3)),
            1));
  }

  private static List<Integer> l(Integer... numbers) {
    return List.of(numbers);
  }

  private static Operator pooling(
      Pooling.Kind kind, List<Integer> kernel, List<Integer> stride, List<Integer> padding) {
    return new Pooling(kind, kernel, stride, padding);
  }

  private static Operator cube(Pooling.Kind kind) {
    return new Pooling(kind, l(2, 2, 2), l(2, 2, 2), l(0, 0, 0));
  }

  private static Case one(
      String name, Operator operator, List<Integer> output, List<Integer> read) {
    return many(name, List.of(operator), output, List.of(read));
  }

  private static Case many(
      String name, List<Operator> steps, List<Integer> output, List<List<Integer>> reads) {
    return new Case(name, steps, output, reads, -1);
  }

  /** The layer's module; the layer before it is a table, which a head may name. */
  Module module() {
    Layer table = layer("table", List.of(new Operator.Embedding(VOCABULARY, 4)), l(5, 4));
    LayerGraph graph = LayerGraph.chain(name, List.of(table, layer("layer", steps, output)));
    Module module = new Modules(graph, 5).of(1);
    if (steps.get(0) instanceof Operator.ShapedBlock) {
      shake(module);
    }
    return module;
  }

  /** Norms of what small first values make would curve too much for differences. */
  private static void shake(Module module) {
    try (RandomSource random = new RandomSource(13)) {
      for (Parameter parameter : module.parameters()) {
        Tensor value = parameter.value().detached();
        value.addInPlace(random.normal(0.5, value.shape()));
      }
    }
  }

  private static Layer layer(String name, List<Operator> steps, List<Integer> output) {
    Optional<Shape> shape = Optional.of(new Shape(output));
    return new Layer(name, steps.get(0), steps, shape, 1, 1, 1, Work.NONE);
  }

  /** What it reads; gradients are computed for all but words. */
  List<Tensor> inputs() {
    List<Tensor> inputs = new ArrayList<>();
    try (RandomSource random = new RandomSource(11)) {
      for (int i = 0; i < reads.size(); i++) {
        long[] shape = reads.get(i).stream().mapToLong(Integer::longValue).toArray();
        inputs.add(i == words ? words(shape) : random.normal(1, shape).withGradient());
      }
    }
    return inputs;
  }

  private static Tensor words(long[] shape) {
    long[] words = new long[(int) (shape[0] * shape[1])];
    for (int i = 0; i < words.length; i++) {
      words[i] = (3L * i + i / 4) % VOCABULARY;
    }
    return Tensor.ofWhole(words, shape);
  }

  /** A place of a tensor, or one where a gradient is followed: none is to a mask. */
  long followed(long place, Tensor tensor) {
    boolean masked = name.equals("masked block") && tensor.shape().length == 3;
    return masked ? place / 9 * 9 + place % 4 : place;
  }

  /** Extents of the output, samples included. */
  List<Integer> outputShape() {
    List<Integer> shape = new ArrayList<>(output);
    shape.add(0, reads.get(0).get(0));
    return Collections.unmodifiableList(shape);
  }
}
