package dev.pipewright.planner.partition;

/**
 * torchgpipe's partition: cuts a sequence into blocks so that the heaviest and the lightest differ
 * by no more than the largest item; so each block is within that of the mean.
 *
 * <p>Paper: I. Bárány, V. S. Grinberg, <i>Block partitions of sequences</i>, Israel Journal of
 * Mathematics 206 (2015), arXiv:1308.2452, the algorithm in its proof; used by torchgpipe (C. Kim
 * et al., arXiv:2004.09910, §3.2.3) to balance layers by measured time or size. From any partition:
 * of the lightest blocks take the one nearest to a heaviest, and let it have the next item on that
 * side. Departs: a block left empty, as only zeros and blocks of one item allow, takes an item from
 * a neighbour that has several.
 *
 * <p>Each step O(blocks); the number of steps is finite, and in practice near the number of items.
 */
public final class BlockPartition {
  /** Sums of the same items in another order differ by rounding. */
  private static final double ROUNDING = 1 + 1e-9;

  private final PrefixSums sums;
  private final int[] cuts; // block b holds the items cuts[b]..cuts[b + 1]-1

  private BlockPartition(double[] weights, int blocks) {
    this.sums = new PrefixSums(weights);
    this.cuts = new int[blocks + 1];
    System.arraycopy(UniformLayers.firsts(weights.length, blocks), 0, cuts, 0, blocks);
    cuts[blocks] = weights.length;
  }

  /** The first item of each block. */
  public static int[] firsts(double[] weights, int blocks) {
    UniformLayers.checkStages(weights.length, blocks);
    BlockPartition partition = new BlockPartition(weights, blocks);
    partition.balance();
    partition.fillEmpty();
    return java.util.Arrays.copyOf(partition.cuts, blocks);
  }

  private void balance() {
    int heavy = heaviest();
    int light = lightest(heavy);
    while (weight(heavy) > (weight(light) + sums.largest) * ROUNDING) {
      int giver;
      if (light < heavy) {
        giver = light + 1;
        cuts[giver]++;
      } else {
        giver = light - 1;
        cuts[light]--;
      }
      heavy = giver == heavy ? heaviest() : heavy;
      light = lightest(heavy);
    }
  }

  private double weight(int block) {
    return sums.sum(cuts[block], cuts[block + 1]);
  }

  private int heaviest() {
    int heavy = 0;
    for (int block = 1; block < cuts.length - 1; block++) {
      heavy = weight(block) > weight(heavy) ? block : heavy;
    }
    return heavy;
  }

  /** The lightest; of equals the nearest to {@code heavy}. */
  private int lightest(int heavy) {
    int light = heavy;
    for (int distance = 1; distance < cuts.length - 1; distance++) {
      for (int block = heavy - distance; block <= heavy + distance; block += 2 * distance) {
        if (block >= 0 && block < cuts.length - 1 && weight(block) < weight(light)) {
          light = block;
        }
      }
    }
    return light;
  }

  /** Moves cuts apart, to the right as far as there are items and then back. */
  private void fillEmpty() {
    for (int block = 1; block < cuts.length - 1; block++) {
      cuts[block] = Math.max(cuts[block], cuts[block - 1] + 1);
    }
    for (int block = cuts.length - 2; block > 0; block--) {
      cuts[block] = Math.min(cuts[block], cuts[block + 1] - 1);
    }
  }
}
