package dev.pipewright.parallel;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.TiedTable;
import java.util.Optional;

/**
 * Which layers tensor parallelism divides by words: vocabulary parallelism (M. Shoeybi et al.,
 * <i>Megatron-LM</i>, 2019, §3).
 *
 * <ul>
 *   <li>An embedding's table by rows. Each member looks up the tokens of its rows, and the states
 *       of all are summed.
 *   <li>The product that scores every word for each token, by rows of its weight. The scores stay
 *       divided: the loss is computed from {@link #LOSS_TERMS} numbers of each row.
 * </ul>
 *
 * <p>Departs: a table that embedding and head share ({@link TiedTable}) and its head stay whole, so
 * its gradients are summed as without tensor parallelism. So do tables with fewer words than parts.
 */
public final class VocabularySplit {
  /**
   * What each member sends of a row of scores: the largest, the sum of exponentials, the score of
   * the wanted word, and whether that is the member's largest.
   */
  public static final int LOSS_TERMS = 4;

  private final LayerGraph graph;
  private final Parallelism split;

  public VocabularySplit(LayerGraph graph, Parallelism split) {
    this.graph = graph;
    this.split = split;
  }

  /** The words of a layer's table that is divided; empty where it has none or it stays whole. */
  public Optional<Operator.Embedding> embedding(int layer) {
    return table(layer).filter(table -> divides(table.vocabulary()) && !tied(layer));
  }

  private Optional<Operator.Embedding> table(int layer) {
    Layer own = graph.layer(layer);
    return own.steps().get(0) instanceof Operator.Embedding table && tokens(own).isPresent()
        ? Optional.of(table)
        : Optional.empty();
  }

  private boolean tied(int layer) {
    return graph.tiedTables().stream().anyMatch(table -> table.layer() == layer);
  }

  private boolean divides(int words) {
    return split.dividesFeatures() && split.several() && words >= split.pieces();
  }

  /** Tokens of a sample, where a layer makes a row of features for each. */
  private static Optional<Integer> tokens(Layer layer) {
    return layer
        .output()
        .filter(shape -> shape.extents().size() == 2)
        .map(shape -> shape.extent(0));
  }

  /**
   * The product of a layer that is divided: the last of the network, which scores the words of one
   * of its tables for each token. Empty for all other layers.
   */
  public Optional<Operator.Linear> head(int layer) {
    Layer own = graph.layer(layer);
    int last = own.steps().size() - 1;
    return own.steps().get(last) instanceof Operator.Linear product
            && own.steps().indexOf(product) == last
            && divides(product.out())
            && ends(layer)
            && tokens(own).isPresent()
            && reads(product.out())
        ? Optional.of(product)
        : Optional.empty();
  }

  /** Whether it is the only layer that no other reads. */
  private boolean ends(int layer) {
    for (int other = 0; other < graph.size(); other++) {
      if ((graph.successors(other).length == 0) != (other == layer)) {
        return false;
      }
    }
    return true;
  }

  private boolean reads(int words) {
    for (int layer = 0; layer < graph.size(); layer++) {
      if (table(layer).filter(table -> table.vocabulary() == words).isPresent()) {
        return true;
      }
    }
    return false;
  }

  /** Tokens of a sample, for each of which a layer makes a row of states or scores. */
  public int rows(int layer) {
    return tokens(graph.layer(layer)).orElse(0);
  }
}
