package dev.pipewright.runtime.net;

import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.VocabularySplit;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * The layers of a network that a worker holds, as modules. Each is made when it is first asked for,
 * from a seed of its own: on every worker and for every cut of the network, it starts with the same
 * numbers.
 */
public final class Network {
  private final Chain chain;
  private final IntFunction<Module> factory;
  private final List<Tied> tied;
  private final TensorParallelGroup tensorGroup;
  private final CutRegion region;
  private final Map<Integer, Module> modules = new HashMap<>(); // by layer of the graph
  private final boolean[] differentiable; // by layer of the graph
  private final int[] sources; // the layers that read samples, not other layers

  public Network(Chain chain, long seed) {
    this(chain, seed, TensorParallelGroup.ALONE, false);
  }

  /**
   * A worker's part of each layer.
   *
   * @param tensorGroup who computes it together
   * @param alike whether all stages have such groups, so that tokens stay divided between them
   */
  public Network(Chain chain, long seed, TensorParallelGroup tensorGroup, boolean alike) {
    this(chain, new Modules(chain.graph(), seed, tensorGroup, alike), tensorGroup);
  }

  private Network(Chain chain, Modules modules, TensorParallelGroup tensorGroup) {
    this(chain, modules::of, modules.tied(), tensorGroup, modules.region());
  }

  private Network(
      Chain chain,
      IntFunction<Module> factory,
      List<Tied> tied,
      TensorParallelGroup tensorGroup,
      CutRegion region) {
    this.chain = chain;
    this.factory = factory;
    this.tied = tied;
    this.tensorGroup = tensorGroup;
    this.region = region;
    this.differentiable = differentiable(chain.graph());
    this.sources =
        Arrays.stream(chain.graph().topological())
            .filter(layer -> chain.graph().predecessors(layer).length == 0)
            .toArray();
  }

  /**
   * The sizes of a network alone, of any layers: it cannot compute, and the memory of its
   * parameters is never touched.
   */
  public static Network ofSizes(Chain chain) {
    return new Network(
        chain,
        layer -> Weight.of(chain.graph(), layer),
        Weight.tied(chain.graph()),
        TensorParallelGroup.ALONE,
        new CutRegion(chain.graph(), Parallelism.NONE));
  }

  /** Whether a gradient reaches each layer's output on its way to some parameter. */
  private static boolean[] differentiable(LayerGraph graph) {
    boolean[] differentiable = new boolean[graph.size()];
    for (int layer : graph.topological()) {
      differentiable[layer] = graph.layer(layer).parameters() > 0;
      for (int before : graph.predecessors(layer)) {
        differentiable[layer] |= differentiable[before];
      }
    }
    return differentiable;
  }

  public LayerGraph graph() {
    return chain.graph();
  }

  /** The chain of positions at which the network can be cut. */
  public Chain chain() {
    return chain;
  }

  /** Positions at which it can be cut. */
  public int size() {
    return chain.size();
  }

  /**
   * The part between two positions of the chain, both inclusive: what {@code last} stands for
   * beyond the position before {@code first}, which must {@linkplain Chain#precedes precede} it.
   */
  public Part part(int first, int last) {
    return part(first, last, true, true);
  }

  /**
   * A part of a stage's layers.
   *
   * @param begins whether the stage begins with it: then whole tensors come in; within a stage a
   *     worker passes its part of those that are cut
   * @param ends likewise for what goes out
   */
  public Part part(int first, int last, boolean begins, boolean ends) {
    Check.that(
        first == 0 || chain.precedes(first - 1, last),
        "a part must not begin inside a branch that it does not end: model=%s, first=%d, last=%d",
        graph().name(),
        first,
        last);
    int[] layers = inOrder(chain.layers(first - 1, last));
    int[] before = first == 0 ? new int[0] : chain.crossing(first - 1);
    return new Part(this, layers, before, chain.crossing(last), begins, ends);
  }

  /**
   * A single layer of the graph as a part, to look at it alone: its output is all that goes out.
   */
  public Part layer(int layer) {
    int[] before = Arrays.stream(graph().predecessors(layer)).distinct().toArray();
    return new Part(this, new int[] {layer}, before, new int[] {layer}, true, true);
  }

  private int[] inOrder(int[] layers) {
    int[] place = new int[graph().size()];
    int[] topological = graph().topological();
    for (int i = 0; i < place.length; i++) {
      place[topological[i]] = i;
    }
    return Arrays.stream(layers)
        .boxed()
        .sorted((a, b) -> Integer.compare(place[a], place[b]))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /** How many tensors a sample consists of: one for each layer that reads no other. */
  public int sources() {
    return sources.length;
  }

  /** The place of a layer among those that read samples. */
  int source(int layer) {
    return Arrays.stream(sources).boxed().toList().indexOf(layer);
  }

  /** Who computes each layer together with this worker. */
  public TensorParallelGroup tensorGroup() {
    return tensorGroup;
  }

  /** Whether each worker of the group has only its part of what a layer reads and makes. */
  boolean cut(int layer) {
    return region.contains(layer);
  }

  /** How a layer's output of so many samples is cut, where it is. */
  TensorCut cutOf(int layer, long samples) {
    List<Long> extents =
        graph().layer(layer).output().orElseThrow().extents().stream().map(Long::valueOf).toList();
    Parallelism split = tensorGroup.split();
    return split.kind() == Parallelism.Kind.SPATIAL
        ? TensorCut.ofGrid(split, 2, extents.subList(1, extents.size()))
        : TensorCut.ofTokens(copy(), samples, extents.get(0) / split.betweenCopies().tokenParts());
  }

  /** Those of the group that have the same tokens as this worker. */
  TensorParallelGroup copy() {
    return tensorGroup.ofCopy();
  }

  /** A worker's part of the samples that a layer reads. */
  Tensor own(Tensor samples, int layer) {
    TensorParallelGroup copies = tensorGroup.betweenCopies();
    Tensor tokens =
        copies.alone()
            ? samples
            : copies.own(samples, TensorCut.ofTokens(copies, samples.extent(0), samples.extent(1)));
    return cut(layer) ? copy().own(tokens, cutOf(layer, samples.extent(0))) : tokens;
  }

  /** Whether a worker has its part of what a layer makes where its stage ends. */
  boolean staysCut(int layer) {
    return region.staysCut(layer);
  }

  /** What of the scores that a layer makes a worker has, where the group divides them. */
  Optional<ScoresPart> scores(int layer) {
    if (staysCut(layer) && graph().successors(layer).length == 0) {
      return Optional.of(new TokenPart(tensorGroup));
    }
    Optional<VocabularyPart> words =
        new VocabularySplit(graph(), tensorGroup.split())
            .head(layer)
            .map(product -> new VocabularyPart(copy(), product.out()));
    TensorParallelGroup copies = tensorGroup.betweenCopies();
    return copies.alone()
        ? words.map(part -> part)
        : Optional.of(new CopyPart(new TokenPart(copies), words));
  }

  Module module(int layer) {
    return modules.computeIfAbsent(layer, this::make);
  }

  /** A module may be asked for inside any scope: its parameters outlive it. */
  private Module make(int layer) {
    try (Scope scope = new Scope()) {
      Module module = factory.apply(layer);
      module.parameters().forEach(parameter -> scope.keep(parameter.value()));
      module.averages().forEach(average -> scope.keep(average.value()));
      return module;
    }
  }

  /** The parameters that are one and the same, held twice. */
  public List<Tied> tied() {
    return tied;
  }

  boolean differentiable(int layer) {
    return differentiable[layer];
  }

  /** Whether a layer's output names words instead of measuring something. */
  boolean whole(int layer) {
    return graph().layer(layer).operator() instanceof Operator.Tokens;
  }

  /** The extents of what a worker has of a layer's output where its stage ends or begins. */
  long[] between(int layer, long samples) {
    long[] shape = shape(layer, samples);
    TensorParallelGroup copy = copy();
    int[] place = copy.split().place(copy.part());
    return staysCut(layer) ? cutOf(layer, samples).shape(shape, place) : shape;
  }

  /** The extents of a layer's output for so many samples: of what a copy has of these. */
  long[] shape(int layer, long samples) {
    Layer made = graph().layer(layer);
    List<Integer> extents = new ArrayList<>();
    if (made.operator() instanceof Operator.Input || made.output().isPresent()) {
      extents.addAll(made.output().orElseThrow().extents());
    } else {
      extents.add(Math.toIntExact(made.outputElements()));
    }
    long[] shape = new long[extents.size() + 1];
    TensorParallelGroup copies = tensorGroup.betweenCopies();
    shape[0] = copies.split().sampleParts() > 1 ? copies.own(samples).count() : samples;
    for (int i = 0; i < extents.size(); i++) {
      shape[i + 1] = extents.get(i);
    }
    shape[1] /= copies.split().tokenParts();
    return shape;
  }
}
