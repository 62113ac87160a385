package dev.pipewright.runtime.net;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.plan.CutRegion;
import dev.pipewright.plan.Split;
import dev.pipewright.plan.SplitLimits;
import dev.pipewright.plan.VocabularySplit;
import dev.pipewright.plan.Windows;
import java.util.List;
import java.util.Optional;

/** How a team computes the operators of a layer, one after the other. */
final class SplitLayer {
  private final Team team;
  private final boolean cut;
  private final boolean product;
  private final Optional<VocabularyPart> table;
  private final Optional<Operator.Linear> head;
  private Optional<List<Integer>> map; // extents of what the next operator reads

  SplitLayer(LayerGraph graph, int layer, Team team, CutRegion region) {
    this.team = team;
    this.cut = region.contains(layer);
    this.product =
        !team.alone() && new SplitLimits(graph).width(layer, team.split().kind()).isPresent();
    VocabularySplit vocabulary = new VocabularySplit(graph, team.split());
    this.table =
        vocabulary.embedding(layer).map(words -> new VocabularyPart(team, words.vocabulary()));
    this.head = vocabulary.head(layer);
    this.map = CutRegion.mapBefore(graph, layer);
  }

  /** What whole parameters are to the team. */
  Share share() {
    return cut ? new Share.Summed() : new Share.Whole();
  }

  /** The words whose rows of the layer's table this worker has, where it is divided. */
  Optional<VocabularyPart> table() {
    return table;
  }

  ProductSplit product(Operator operator) {
    if (head.filter(operator::equals).isPresent()) {
      return new ProductSplit(ProductSplit.By.WORDS, team);
    }
    if (!product || (operator instanceof Operator.Convolution c && c.groups() > 1)) {
      return ProductSplit.WHOLE;
    }
    return switch (team.split().kind()) {
      case FILTER -> new ProductSplit(ProductSplit.By.FILTERS, team);
      case CHANNEL -> new ProductSplit(ProductSplit.By.CHANNELS, team);
      case NONE, SPATIAL, TENSOR, SEQUENCE -> ProductSplit.WHOLE;
    };
  }

  CutWindows windows(Operator operator) {
    Windows windows = Windows.of(operator).orElseThrow();
    if (!cut) {
      return CutWindows.whole(windows);
    }
    List<Integer> in = map.orElseThrow();
    map = Optional.of(windows.places(in));
    return CutWindows.of(team, windows, in);
  }

  /** Who has the other samples and places that a normalisation takes its averages over. */
  Team places() {
    return cut ? team : Team.ALONE;
  }

  /** Who computes a transformer's block together. */
  Team block() {
    boolean splits =
        team.split().kind() == Split.Kind.TENSOR || team.split().kind() == Split.Kind.SEQUENCE;
    return splits ? team : Team.ALONE;
  }

  /** Whether a block reads and makes some of the steps of its sequences. */
  boolean cut() {
    return cut;
  }
}
