package dev.pipewright.predict.transformer;

/** How context-parallel ranks exchange keys and values of a layer. */
enum ContextExchange {
  /**
   * From neighbour to neighbour, a block at a time, while attention to another block runs: Megatron
   * Core's {@code p2p}.
   *
   * <p>Source: H. Liu et al., <i>Ring attention</i>, arXiv:2310.01889, §3.
   */
  RING {
    @Override
    double exposed(CollectiveTime links, double bytes, int ranks, double stride, double attention) {
      double block = attention / ranks;
      return (ranks - 1) * Math.max(links.hop(bytes, ranks, stride) - block, 0);
    }
  },
  /**
   * In one all-gather, while attention to the rank's own block runs; the backward pass scatters
   * sums of gradients in as many bytes.
   *
   * <p>Source: A. Dubey et al., <i>The Llama 3 herd of models</i>, arXiv:2407.21783, §3.3.2.
   */
  ALL_GATHER {
    @Override
    double exposed(CollectiveTime links, double bytes, int ranks, double stride, double attention) {
      double gather = links.allReduce(ranks * bytes, ranks, stride) / 2;
      return Math.max(gather - attention / ranks, 0);
    }
  };

  /**
   * Seconds of one exchange that attention does not hide.
   *
   * @param bytes that each rank has for the others
   * @param ranks that share a sequence
   * @param stride between two of them
   * @param attention seconds of attention to all of the sequence's blocks
   */
  abstract double exposed(
      CollectiveTime links, double bytes, int ranks, double stride, double attention);
}
