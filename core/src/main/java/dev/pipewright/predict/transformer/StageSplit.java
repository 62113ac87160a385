package dev.pipewright.predict.transformer;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Which layers each pipeline rank holds.
 *
 * @param ranks pipeline-parallel ranks
 * @param chunks in the order of the layers
 * @param waves whether chunks go there and back over the ranks; otherwise chunk i lies on rank i
 *     mod {@code ranks}
 */
public record StageSplit(int ranks, List<Chunk> chunks, boolean waves) {
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

  /** Whose chunk i lies on rank i mod {@code ranks}. */
  public StageSplit(int ranks, List<Chunk> chunks) {
    this(ranks, chunks, false);
  }

  /** The same with chunks that go there and back. */
  public StageSplit inWaves() {
    return new StageSplit(ranks, chunks, true);
  }

  /** The rank that holds a chunk. */
  public int rank(int chunk) {
    boolean back = waves && chunk / ranks % 2 == 1;
    return back ? ranks - 1 - chunk % ranks : chunk % ranks;
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
  record Rank(int dense, int mixtures, int embeddings, int heads, int predictions) {
    Rank plus(Rank that) {
      return new Rank(
          dense + that.dense,
          mixtures + that.mixtures,
          embeddings + that.embeddings,
          heads + that.heads,
          predictions + that.predictions);
    }
  }

  /** What each chunk holds. */
  List<Rank> held(TransformerSizes sizes) {
    List<Rank> held = new ArrayList<>();
    int layer = 0;
    for (Chunk chunk : chunks) {
      int mixtures = sizes.mixtures(layer, layer + chunk.layers);
      int dense = chunk.layers - mixtures;
      held.add(new Rank(dense, mixtures, chunk.embeddings, chunk.heads, chunk.predictions));
      layer += chunk.layers;
    }
    return held;
  }

  /** The sums over each rank's chunks. */
  List<Rank> ranks(TransformerSizes sizes) {
    List<Rank> chunk = held(sizes);
    List<Rank> held = new ArrayList<>(Collections.nCopies(ranks, new Rank(0, 0, 0, 0, 0)));
    for (int i = 0; i < chunk.size(); i++) {
      held.set(rank(i), held.get(rank(i)).plus(chunk.get(i)));
    }
    return held;
  }
}
