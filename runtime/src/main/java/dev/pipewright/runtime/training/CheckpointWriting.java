package dev.pipewright.runtime.training;

import dev.pipewright.runtime.checkpoint.Checkpoints;
import dev.pipewright.runtime.checkpoint.Manifest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Has workers write checkpoints, one after the other: says where each is to be written, and
 * completes it when all its stages are there.
 */
final class CheckpointWriting {
  private static final long NONE = -1;

  private final Checkpoints checkpoints;
  private final int stages;
  private final LongFunction<Manifest> manifest;
  private final TreeMap<Long, List<Consumer<String>>> waiting = new TreeMap<>(); // by step
  private final TreeMap<String, Manifest.Shard> written = new TreeMap<>(); // by file
  private long open = NONE;
  private String folder = "";
  private Optional<Path> last = Optional.empty();

  /**
   * @param stages each of which is a file
   * @param manifest of a checkpoint after so many steps, without its files
   */
  CheckpointWriting(Checkpoints checkpoints, int stages, LongFunction<Manifest> manifest) {
    this.checkpoints = checkpoints;
    this.stages = stages;
    this.manifest = manifest;
  }

  /** A worker asks for the folder of the checkpoint after {@code step} steps. */
  void asked(long step, Consumer<String> answer) {
    if (step == open) {
      answer.accept(folder);
    } else {
      waiting.computeIfAbsent(step, key -> new ArrayList<>()).add(answer);
      openNext();
    }
  }

  private void openNext() {
    if (open == NONE && !waiting.isEmpty()) {
      open = waiting.firstKey();
      folder = checkpoints.begin(open).toString();
      waiting.pollFirstEntry().getValue().forEach(answer -> answer.accept(folder));
    }
  }

  /** A stage of the checkpoint that is being written is on the disk. */
  void written(Manifest.Shard shard) {
    written.put(shard.file(), shard);
    if (written.size() == stages) {
      Manifest said = manifest.apply(open);
      last =
          Optional.of(
              checkpoints.commit(
                  new Manifest(
                      said.step(),
                      said.samples(),
                      said.seed(),
                      said.model(),
                      said.plan(),
                      said.settings(),
                      List.copyOf(written.values()))));
      written.clear();
      open = NONE;
      openNext();
    }
  }

  /** The last that is complete. */
  Optional<Path> last() {
    return last;
  }
}
