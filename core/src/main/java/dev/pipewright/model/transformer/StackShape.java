package dev.pipewright.model.transformer;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Blocks in a row, first to last.
 *
 * @param causal whether a token reads none after it
 * @param last the normalisation after the last block; empty where there is none
 */
public record StackShape(List<LayerShape> blocks, boolean causal, Optional<NormShape> last) {
  /** More blocks than anyone trains, fewer than fill the memory. */
  public static final int MOST_BLOCKS = 1 << 14;

  /** Equal blocks that follow each other. */
  public record Run(LayerShape block, int count) {}

  public StackShape {
    blocks = List.copyOf(blocks);
    Check.that(
        !blocks.isEmpty() && blocks.size() <= MOST_BLOCKS,
        "layers=%d is out of range; write 1 to %d",
        blocks.size(),
        MOST_BLOCKS);
  }

  /** {@code count} equal blocks; throws {@link IllegalArgumentException} where that is too many. */
  public static List<LayerShape> repeated(LayerShape block, int count) {
    Check.that(
        1 <= count && count <= MOST_BLOCKS,
        "layers=%d is out of range; write 1 to %d",
        count,
        MOST_BLOCKS);
    return Collections.nCopies(count, block);
  }

  public int size() {
    return blocks.size();
  }

  /** The blocks, equal neighbours together. */
  public List<Run> runs() {
    List<Run> runs = new ArrayList<>();
    int first = 0;
    for (int i = 1; i <= blocks.size(); i++) {
      if (i == blocks.size() || !blocks.get(i).equals(blocks.get(first))) {
        runs.add(new Run(blocks.get(first), i - first));
        first = i;
      }
    }
    return runs;
  }

  long parameters(int hidden) {
    long sum = last.map(norm -> norm.parameters(hidden)).orElse(0L);
    for (Run run : runs()) {
      sum = Counts.sum(sum, Counts.product(run.count, run.block.parameters(hidden)));
    }
    return sum;
  }

  long activeParameters(int hidden) {
    long sum = last.map(norm -> norm.parameters(hidden)).orElse(0L);
    for (Run run : runs()) {
      sum = Counts.sum(sum, Counts.product(run.count, run.block.activeParameters(hidden)));
    }
    return sum;
  }

  double flopsPerToken(int hidden, int sequence) {
    double sum = 0;
    for (Run run : runs()) {
      sum += run.count * run.block.flopsPerToken(hidden, sequence, causal);
    }
    return sum;
  }
}
