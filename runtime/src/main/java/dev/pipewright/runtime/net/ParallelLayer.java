package dev.pipewright.runtime.net;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.VocabularySplit;
import dev.pipewright.parallel.Windows;
import dev.pipewright.plan.ParallelismLimits;
import java.util.List;
import java.util.Optional;

/** How a tensor-parallel group computes the operators of a layer, in order. */
final class ParallelLayer {
  private final TensorParallelGroup tensorGroup; // of this worker's copy
  private final TensorParallelGroup experts; // who has some of a mixture's each
  private final TensorParallelGroup context; // who has the other tokens of its sequences
  private final boolean cut;
  private final boolean product;
  private final Optional<VocabularyPart> table;
  private final Optional<Operator.Linear> head;
  private final int tokens; // of a sample, where the layer makes something of each
  private Optional<List<Integer>> map; // extents of what the next operator reads

  ParallelLayer(LayerGraph graph, int layer, TensorParallelGroup all, CutRegion region) {
    this.tensorGroup = all.ofCopy();
    this.cut = region.contains(layer);
    Parallelism split = tensorGroup.split();
    boolean tokens = cut && split.dividesTokens() && split.tokenParts() > 1;
    boolean copies = all.split().nested() && all.split().tokenParts() > 1;
    TensorParallelGroup alone = TensorParallelGroup.ALONE;
    this.context = tokens ? tensorGroup : copies ? all.betweenCopies() : alone;
    this.experts = cut && all.split().expertParts() > 1 ? all : alone;
    this.product =
        !tensorGroup.alone()
            && new ParallelismLimits(graph).width(layer, tensorGroup.split().kind()).isPresent();
    VocabularySplit vocabulary = new VocabularySplit(graph, tensorGroup.split());
    this.table =
        vocabulary
            .embedding(layer)
            .map(words -> new VocabularyPart(tensorGroup, words.vocabulary()));
    this.head = vocabulary.head(layer);
    this.tokens = graph.layer(layer).output().map(shape -> shape.extent(0)).orElse(0);
    this.map = CutRegion.mapBefore(graph, layer);
  }

  /** What whole parameters are to the group. */
  Share share() {
    return cut ? new Share.Summed() : new Share.Whole();
  }

  /** The words whose rows of the layer's table this worker has, where it is divided. */
  Optional<VocabularyPart> table() {
    return table;
  }

  ParallelProduct product(Operator operator) {
    if (head.filter(operator::equals).isPresent()) {
      return new ParallelProduct(ParallelProduct.By.WORDS, tensorGroup);
    }
    if (!product || (operator instanceof Operator.Convolution c && c.groups() > 1)) {
      return ParallelProduct.WHOLE;
    }
    return switch (tensorGroup.split().kind()) {
      case FILTER -> new ParallelProduct(ParallelProduct.By.FILTERS, tensorGroup);
      case CHANNEL -> new ParallelProduct(ParallelProduct.By.CHANNELS, tensorGroup);
      case NONE, SPATIAL, TENSOR, SEQUENCE, CONTEXT, EXPERT -> ParallelProduct.WHOLE;
    };
  }

  CutWindows windows(Operator operator) {
    Windows windows = Windows.of(operator).orElseThrow();
    if (!cut) {
      return CutWindows.whole(windows);
    }
    List<Integer> in = map.orElseThrow();
    map = Optional.of(windows.places(in));
    return CutWindows.of(tensorGroup, windows, in);
  }

  /** Who has the other samples and places that a normalisation takes its averages over. */
  TensorParallelGroup places() {
    return cut ? tensorGroup : TensorParallelGroup.ALONE;
  }

  /**
   * How the group computes a transformer's block or an attention.
   *
   * @param sequence tokens of a sample
   */
  ParallelBlock block(int sequence) {
    boolean features = tensorGroup.split().dividesFeatures();
    return new ParallelBlock(
        features ? tensorGroup : TensorParallelGroup.ALONE,
        features && cut,
        sequence,
        context,
        experts);
  }

  /** The first of the tokens that this worker has of each sample. */
  long firstToken() {
    return context.alone() ? 0 : context.own(tokens).first();
  }
}
