package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.runtime.checkpoint.TensorFile.Entry;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * The parameters and running averages of a checkpoint in one file of safetensors. A tied table is
 * there once, and the metadata say under which name its copy is found, as {@code
 * safetensors.torch.save_model} writes it. Tensors are in the order of their names, whole numbers
 * first, so that equal values give equal files, whatever the plan was.
 */
public final class MergedFile {
  /** Metadata of every file that is written here: which program wrote it. */
  private static final String WRITER = "writer";

  private static final String PIPEWRIGHT = "pipewright";

  private MergedFile() {}

  /**
   * Writes the file, whole or not at all.
   *
   * @throws BadInputException where a byte of the checkpoint is not what was written, or two copies
   *     of a tied table differ
   */
  public static SequencedMap<String, Entry> write(Checkpoint checkpoint, Path file) {
    OutputFile.check("--out", file, MergedFile::isOurs);
    checkpoint.verify();
    Map<String, String> metadata = new LinkedHashMap<>();
    metadata.put("format", "pt"); // what PyTorch's reader expects
    metadata.put(WRITER, PIPEWRIGHT);
    metadata.put("model", checkpoint.manifest().model());
    metadata.put("step", Long.toString(checkpoint.manifest().step()));
    Map<String, String> tied = checkpoint.manifest().tied();
    tied.forEach((copy, table) -> {
      checkpoint.requireEqual(table, copy);
      metadata.put(copy, table);
    });
    SequencedMap<String, Entry> tensors = new LinkedHashMap<>();
    checkpoint.names().stream()
        .filter(name -> !StateNames.isMoment(name) && !tied.containsKey(name))
        .map(name -> Map.entry(name, checkpoint.entry(name)))
        .sorted(
            Comparator.comparing((Map.Entry<String, Entry> tensor) -> tensor.getValue().isWhole())
                .reversed()
                .thenComparing(Map.Entry::getKey))
        .forEach(tensor -> tensors.put(tensor.getKey(), tensor.getValue()));
    OutputFile.writeBytes(file, channel -> Shards.copy(channel, tensors, metadata));
    return tensors;
  }

  private static boolean isOurs(Path file) {
    try {
      return PIPEWRIGHT.equals(TensorFile.open(file).metadata().get(WRITER));
    } catch (BadInputException e) {
      return false;
    }
  }
}
