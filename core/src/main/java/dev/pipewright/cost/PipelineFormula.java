package dev.pipewright.cost;

/**
 * How the times of the stages of a synchronous pipeline combine to the time of a step.
 *
 * <p>A formula sees the pipeline from its end: it starts with nothing and is told one stage after
 * the other, last first, with the transfers between them. What it has to remember is a <i>label</i>
 * of {@link #width} numbers. Every formula here is monotone: of two labels for the same layers and
 * devices, with equally many stages, one that is nowhere larger leads to a step that is no longer,
 * whatever comes before. Planners prune by that; {@code PipelineFormulaTest} checks it.
 */
public interface PipelineFormula {
  /** The name by which users choose it. */
  String name();

  /**
   * Whether it is the longest path through the step: then schedules that it does not know are
   * priced by that path, too.
   */
  default boolean isLongestPath() {
    return false;
  }

  /** How many numbers a label has. */
  int width();

  /** Writes the label of no stage at all. */
  void nothing(double[] label, int at);

  /**
   * Puts a computing stage before what a label describes.
   *
   * @param from where the label is in {@code pool}
   * @param forward seconds for one micro-batch
   * @param backward seconds for one micro-batch, recomputation included
   * @param tail seconds from the stage's last backward pass to the end of its update
   * @param microBatches micro-batches per step
   * @param inFlight how many of them the stage may hold at once
   * @param to where the new label goes in {@code pool}; may equal {@code from}
   */
  void stage(
      double[] pool,
      int from,
      double forward,
      double backward,
      double tail,
      int microBatches,
      int inFlight,
      int to);

  /** Puts a transfer before what a label describes: seconds there and back for one micro-batch. */
  void transfer(double[] pool, int from, double there, double back, int microBatches, int to);

  /** The step that a label stands for when no stage comes before it. */
  double seconds(double[] pool, int at);

  /**
   * Seconds from the first forward pass to the last backward pass of the first stage of a label.
   */
  double path(double[] pool, int at);

  /**
   * Whether stages put before a label lengthen its path by their passes in full, and a stage's path
   * is at least its passes times the micro-batches.
   */
  boolean pathsAddUp();

  /**
   * No pipeline that ends in what the label describes is faster, when some stage before it needs at
   * least {@code slowest} seconds (forward and backward) for a micro-batch and all stages before it
   * together delay the step by at least {@code delay}: their passes on one micro-batch, and where
   * that is longer the end of their updates.
   */
  double bound(double[] pool, int at, double slowest, double delay, int microBatches);
}
