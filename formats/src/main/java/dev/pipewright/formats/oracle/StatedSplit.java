package dev.pipewright.formats.oracle;

import dev.pipewright.formats.transformer.MegatronLayout;
import dev.pipewright.formats.transformer.MegatronLayout.Kind;
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
}
