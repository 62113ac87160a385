package dev.pipewright.predict.transformer.search;

import dev.pipewright.predict.transformer.MeshTerms;
import dev.pipewright.predict.transformer.MicroBatchTerms;
import dev.pipewright.predict.transformer.TrainingLayout;

/** All layouts of a search that agree in their degrees of parallelism and their chunks. */
final class SearchMesh {
  private final MeshTerms terms;
  private final MicroBatchTerms[] microBatches; // by sequence parallelism, recomputation and size
  private final int[] positions; // of the sizes of micro-batches among all that are searched
  private final int[] batches; // of a step, by size
  private final int samples; // of a step and replica
  private final int zeros;
  private final int offloads;
  private final int heatCell;
  private final long number; // of the first layout
  private final long numbersOfMicroBatch;
  private final SearchSpace space;

  /**
   * Of the pipeline degree and the chunks that the run of {@code first} has.
   *
   * @param microBatches by choice of sequence parallelism and recomputation, then by size
   * @param positions of the sizes among all that are searched
   * @param batches micro-batches of a step, by size
   */
  SearchMesh(
      SearchSpace space,
      MeshTerms terms,
      MicroBatchTerms[] microBatches,
      int[] positions,
      int[] batches,
      TrainingLayout first,
      long number) {
    this.space = space;
    this.terms = terms;
    this.microBatches = microBatches;
    this.positions = positions;
    this.batches = batches;
    this.samples = first.globalBatch() / first.data();
    this.zeros = space.zeros(first.pipeline());
    this.offloads = space.offloads(first.pipeline());
    this.heatCell = space.heatCell(first.tensor(), first.pipeline());
    this.number = number;
    this.numbersOfMicroBatch = space.numbersOfMicroBatch();
  }

  MeshTerms terms() {
    return terms;
  }

  /** Sizes of micro-batches; they rise. */
  int sizes() {
    return positions.length;
  }

  /** Choices of sequence parallelism and recomputation. */
  int choices() {
    return microBatches.length / positions.length;
  }

  MicroBatchTerms microBatch(int choice, int size) {
    return microBatches[choice * positions.length + size];
  }

  /** Micro-batches of a step. */
  int batches(int size) {
    return batches[size];
  }

  /** Choices of ZeRO that differ with its pipeline. */
  int zeros() {
    return zeros;
  }

  /** Values of offloading that a rank can have. */
  int offloads() {
    return offloads;
  }

  /** Layouts of a micro-batch under one recomputation. */
  long layoutsOfMicroBatch() {
    return (long) zeros * offloads;
  }

  /** The cell of the heat map. */
  int heatCell() {
    return heatCell;
  }

  /** The number of the first layout with such a choice and size. */
  long number(int choice, int size) {
    int sizes = space.values().microBatch().size();
    return number + ((long) choice * sizes + positions[size]) * numbersOfMicroBatch;
  }

  /**
   * A lower bound of the seconds of all layouts.
   *
   * @see MeshTerms#leastSeconds
   */
  double leastSeconds() {
    double dense = Double.POSITIVE_INFINITY;
    double mixture = Double.POSITIVE_INFINITY;
    for (int i = 0; i < microBatches.length; i++) {
      double size = (double) samples / batches[i % batches.length]; // samples of a micro-batch
      dense = Math.min(dense, microBatches[i].denseSeconds() / size);
      mixture = Math.min(mixture, microBatches[i].mixtureSeconds() / size);
    }
    return terms.leastSeconds(samples, dense, mixture);
  }
}
