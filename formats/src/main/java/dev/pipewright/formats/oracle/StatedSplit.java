package dev.pipewright.formats.oracle;

import dev.pipewright.formats.transformer.MegatronLayout;
import dev.pipewright.formats.transformer.MegatronLayout.Kind;
import dev.pipewright.formats.transformer.MegatronLayoutText;
import dev.pipewright.predict.transformer.StageSplit;
import dev.pipewright.predict.transformer.StageSplit.Chunk;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The layers of each stage as Megatron-LM's layout strings state them. */
public final class StatedSplit {
  private StatedSplit() {}

  /**
   * The split.
   *
   * @param pipeline ranks
   * @throws dev.pipewright.formats.file.BadInputException where the string is no layout
   */
  public static StageSplit of(String layout, int pipeline) {
    List<Chunk> chunks = new ArrayList<>();
    for (List<Kind> stage : MegatronLayout.parse(layout.replace(" ", ""), pipeline).stages()) {
      chunks.add(
          new Chunk(
              Collections.frequency(stage, Kind.DECODER),
              Collections.frequency(stage, Kind.EMBEDDING),
              Collections.frequency(stage, Kind.LOSS),
              Collections.frequency(stage, Kind.MTP)));
    }
    return new StageSplit(pipeline, chunks);
  }

  /** The string that {@link #of} reads back equal; the split goes round and round the ranks. */
  public static String text(StageSplit split) {
    List<List<Kind>> stages = new ArrayList<>();
    for (Chunk chunk : split.chunks()) {
      List<Kind> layers = new ArrayList<>();
      layers.addAll(Collections.nCopies(chunk.embeddings(), Kind.EMBEDDING));
      layers.addAll(Collections.nCopies(chunk.layers(), Kind.DECODER));
      layers.addAll(Collections.nCopies(chunk.predictions(), Kind.MTP));
      layers.addAll(Collections.nCopies(chunk.heads(), Kind.LOSS));
      stages.add(layers);
    }
    return MegatronLayoutText.of(new MegatronLayout(stages, split.ranks()));
  }
}
