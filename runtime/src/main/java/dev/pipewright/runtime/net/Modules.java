package dev.pipewright.runtime.net;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/** The modules of the layers of a network. */
final class Modules {
  private final LayerGraph graph;
  private final long seed;
  private final TensorParallelGroup tensorGroup;
  private final CutRegion region;

  /** Whole layers. */
  Modules(LayerGraph graph, long seed) {
    this(graph, seed, TensorParallelGroup.ALONE, false);
  }

  /**
   * @param seed of the parameters' first values
   * @param tensorGroup who computes each layer together with this worker
   * @param alike whether all stages have such groups ({@link CutRegion#staysCut})
   */
  Modules(LayerGraph graph, long seed, TensorParallelGroup tensorGroup, boolean alike) {
    this.graph = graph;
    this.seed = seed;
    this.tensorGroup = tensorGroup;
    this.region = new CutRegion(graph, tensorGroup.split(), alike);
  }

  /** Between which layers tensors stay cut. */
  CutRegion region() {
    return region;
  }

  /**
   * A layer, ready to compute. Its first values depend on the seed and its number alone.
   *
   * @throws IllegalArgumentException with a sentence for the user where a layer cannot be run
   */
  Module of(int number) {
    Layer layer = graph.layer(number);
    try (RandomSource random = random(number)) {
      ParallelLayer split = new ParallelLayer(graph, number, tensorGroup, region);
      FirstValues values = new FirstValues(layer, random, split.share());
      List<Module> modules = new ArrayList<>();
      for (Operator step : layer.steps()) {
        modules.add(of(layer, step, values, split));
      }
      return modules.size() == 1 ? modules.get(0) : new LayerOperators(List.copyOf(modules));
    }
  }

  private RandomSource random(int number) {
    return new RandomSource(seed * 1_000_003 + number);
  }

  private Module of(Layer layer, Operator operator, FirstValues values, ParallelLayer split) {
    return switch (operator) {
      case Operator.Input() -> (inputs, pass) -> inputs.get(0);
      case Operator.Tokens(int vocabulary) -> (inputs, pass) -> inputs.get(0);
      case Operator.Convolution c ->
          new ConvolutionModule(c, values, split.product(c), split.windows(c));
      case Operator.Linear linear ->
          new LinearModule(linear, oneRow(layer), values, split.product(linear));
      case Operator.Normalization(var kind, int features) ->
          kind == Operator.Normalization.Kind.BATCH
              ? new BatchNormalizationModule(features, values, split.places())
              : StateNormalization.of(states(kind), "", features, values);
      case Operator.Pooling pooling -> pooling(pooling, split.windows(pooling));
      case Operator.Elementwise(String function) -> function(layer, function);
      case Operator.Concatenation() -> (inputs, pass) -> Functions.concatenation(inputs, 1);
      case Operator.Embedding embedding -> new EmbeddingModule(embedding, values, split.table());
      case Operator.Positions positions ->
          AddedVectorsModule.of(positions, values, split.firstToken());
      case Operator.Segments segments -> AddedVectorsModule.of(segments, values);
      case Operator.ClassToken token -> new ClassTokenModule(token, values);
      case Operator.Mask(int sequence) -> (inputs, pass) -> masked(inputs.get(0), sequence);
      case Operator.TiedEmbedding(String tied) -> refused(layer, "a second look-up in " + tied);
      case Operator.TiedScores(String tied) -> tiedScores(layer, tied, split.share());
      case Operator.Attention(int hidden, int heads, int sequence) ->
          new SelfAttention(hidden, heads, false, values, split.block(sequence));
      case Operator.Lstm(int in, int hidden, boolean bidirectional, int sequence) ->
          new LstmModule(in, hidden, bidirectional, values);
      case Operator.AttentionLstm attention -> new AttentionLstmModule(attention, values);
      case Operator.Residual(int features) ->
          (inputs, pass) -> inputs.get(0).plus(features(inputs.get(1), 0, features));
      case Operator.Carried(int features) ->
          (inputs, pass) -> {
            Tensor read = inputs.get(1);
            Tensor carried = features(read, read.extent(2) - features, features);
            return Tensor.joined(List.of(inputs.get(0), carried), 2);
          };
      case Operator.TransformerBlock block ->
          new TransformerBlockModule(block, values, split.block(block.sequence()));
      case Operator.ShapedBlock block ->
          new ShapedBlockModule(computed(layer, block), values, split.block(block.sequence()));
      case Operator.Block(String kind) -> refused(layer, kind);
      case Operator.Recorded(String description) -> refused(layer, description);
    };
  }

  private Module refused(Layer layer, String description) {
    throw new IllegalArgumentException(
        "%s cannot be trained: of its layer %s (%s) only sizes and times are known"
            .formatted(graph.name(), layer.name(), description));
  }

  private Operator.ShapedBlock computed(Layer layer, Operator.ShapedBlock block) {
    ShapedBlockModule.lacking(block)
        .ifPresent(what -> {
          throw new IllegalArgumentException(
              "%s cannot be trained: %s"
                  .formatted(graph.name(), Computable.lacking(layer.name(), what)));
        });
    return block;
  }

  private static NormShape states(Operator.Normalization.Kind kind) {
    return switch (kind) {
      case BATCH -> throw new IllegalArgumentException("no normalisation of states alone");
      case LAYER -> NormShape.LAYER;
      case RMS -> NormShape.RMS;
      case PLAIN -> NormShape.PLAIN;
    };
  }

  /** Whether one row of features comes out for each sample. */
  private static boolean oneRow(Layer layer) {
    return layer.output().map(shape -> shape.extents().size() == 1).orElse(true);
  }

  private static Tensor features(Tensor states, long first, long count) {
    return first == 0 && count == states.extent(2) ? states : states.part(2, first, count);
  }

  /** Padding of a maximum is less than any number. */
  private static Module pooling(Operator.Pooling operator, CutWindows windows) {
    long[] kernel = ConvolutionModule.array(operator.kernel());
    long[] stride = ConvolutionModule.array(operator.stride());
    long[] padding = windows.padding();
    return operator.kind() == Operator.Pooling.Kind.MAX
        ? (inputs, pass) ->
            Functions.maximum(
                windows.read(inputs.get(0), Double.NEGATIVE_INFINITY), kernel, stride, padding)
        : (inputs, pass) ->
            Functions.average(windows.read(inputs.get(0), 0), kernel, stride, padding);
  }

  /**
   * Dropout returns what it reads: what it leaves out would depend on how samples and layers are
   * divided among workers, and every plan is to compute the same.
   */
  private Module function(Layer layer, String function) {
    return switch (function) {
      case "relu" -> (inputs, pass) -> Functions.relu(inputs.get(0));
      case "gelu" -> (inputs, pass) -> Functions.gelu(inputs.get(0));
      case "tanh" -> (inputs, pass) -> Functions.tanh(inputs.get(0));
      case "softmax" ->
          (inputs, pass) -> Functions.softmax(inputs.get(0), inputs.get(0).shape().length - 1);
      case "add" -> (inputs, pass) -> sum(inputs);
      case "dropout" -> (inputs, pass) -> inputs.get(0);
      default -> refused(layer, function);
    };
  }

  private static Tensor sum(List<Tensor> inputs) {
    Tensor sum = inputs.get(0);
    for (Tensor next : inputs.subList(1, inputs.size())) {
      sum = sum.plus(next);
    }
    return sum;
  }

  /** Samples are full sequences: nothing is hidden, so nothing is added to any score. */
  private static Tensor masked(Tensor states, int sequence) {
    Tensor mask = Tensor.zeros(states.extent(0), states.extent(1), sequence);
    return Tensor.joined(List.of(states, mask), 2);
  }

  /** A copy of another layer's table: what that layer draws first. */
  private Module tiedScores(Layer layer, String tied, Share share) {
    Operator.Embedding embedding = embedding(tied);
    try (RandomSource random = random(number(tied))) {
      return new TiedScoresModule(embedding, new FirstValues(layer, random, share));
    }
  }

  private int number(String layer) {
    Integer number = graph.index().get(layer);
    Check.that(number != null, "%s has no layer %s", graph.name(), layer);
    return number == null ? -1 : number;
  }

  private Operator.Embedding embedding(String layer) {
    Operator first = graph.layer(number(layer)).steps().get(0);
    if (first instanceof Operator.Embedding embedding) {
      return embedding;
    }
    throw new IllegalArgumentException("%s is no embedding".formatted(layer));
  }

  /** All pairs of a table and its copy. */
  List<Tied> tied() {
    List<Tied> tied = new ArrayList<>();
    for (int copy = 0; copy < graph.size(); copy++) {
      Layer layer = graph.layer(copy);
      for (Operator step : layer.steps()) {
        if (step instanceof Operator.TiedScores(String table)) {
          tied.add(new Tied(number(table), table + ".weight", copy, layer.name() + ".weight"));
        }
      }
    }
    return tied;
  }
}
