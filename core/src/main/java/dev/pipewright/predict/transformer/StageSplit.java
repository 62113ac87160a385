package dev.pipewright.predict.transformer;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * Which layers each pipeline rank holds. Chunk i lies on rank i mod {@code ranks}.
 *
 * @param ranks pipeline-parallel ranks
 * @param chunks in the order of the layers
 */
public record StageSplit(int ranks, List<Chunk> chunks) {
  /**
   * What a chunk holds: decoder layers, embeddings and heads (0 or 1), and layers of multi-token
   * prediction.
   */
  public record Chunk(int layers, int embeddings, int heads, int predictions) {}

  public StageSplit {
    chunks = List.copyOf(chunks);
    Check.that(
        ranks >= 1 && !chunks.isEmpty() && chunks.size() % ranks == 0,
        "%d chunks are no multiple of pipeline=%d; correct one of them",
        chunks.size(),
        ranks);
  }

  /**
   * As even as possible; earlier chunks get what is left over.
   *
   * @param embeddingAsLayer whether the embedding counts as a layer of the first chunk
   * @param lossAsLayer whether the loss counts as a layer of the last chunk
   */
  public static StageSplit even(
      int ranks,
      int interleave,
      int layers,
      int predictions,
      boolean embeddingAsLayer,
      boolean lossAsLayer) {
    long chunksWanted = (long) ranks * interleave;
    int units = layers + (embeddingAsLayer ? 1 : 0) + (lossAsLayer ? 1 : 0);
    Check.that(
        units >= chunksWanted,
        "layers=%d are fewer than the %d chunks of the pipeline; lower pipeline or interleave",
        layers,
        chunksWanted);
    int count = (int) chunksWanted;
    List<Chunk> chunks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      boolean first = i == 0;
      boolean last = i == count - 1;
      int size = units / count + (i < units % count ? 1 : 0);
      int ends = (first && embeddingAsLayer ? 1 : 0) + (last && lossAsLayer ? 1 : 0);
      chunks.add(
          new Chunk(Math.max(0, size - ends), first ? 1 : 0, last ? 1 : 0, last ? predictions : 0));
    }
    return new StageSplit(ranks, chunks);
  }

  /** All chunks as one on one rank. */
  public StageSplit joined() {
    return new StageSplit(
        1,
        List.of(
            new Chunk(
                layers(),
                chunks.stream().mapToInt(Chunk::embeddings).sum(),
                chunks.stream().mapToInt(Chunk::heads).sum(),
                chunks.stream().mapToInt(Chunk::predictions).sum())));
  }

  /** Decoder layers of all chunks. */
  public int layers() {
    return chunks.stream().mapToInt(Chunk::layers).sum();
  }

  /** What a pipeline rank holds, by kind of layer. */
  record Rank(int dense, int mixtures, int embeddings, int heads, int predictions) {}

  /** The sums over each rank's chunks. */
  List<Rank> ranks(TransformerSizes sizes) {
    List<Rank> held = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      int[] sum = new int[5];
      int layer = 0;
      for (int i = 0; i < chunks.size(); i++) {
        Chunk chunk = chunks.get(i);
        if (i % ranks == rank) {
          int mixtures = sizes.mixtures(layer, layer + chunk.layers);
          sum[0] += chunk.layers - mixtures;
          sum[1] += mixtures;
          sum[2] += chunk.embeddings;
          sum[3] += chunk.heads;
          sum[4] += chunk.predictions;
        }
        layer += chunk.layers;
      }
      held.add(new Rank(sum[0], sum[1], sum[2], sum[3], sum[4]));
    }
    return held;
  }
}
