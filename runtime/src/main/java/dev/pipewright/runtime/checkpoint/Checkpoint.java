package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.tensor.Tensor;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A checkpoint that is read. Tensors are found by their names, whichever worker wrote them, so the
 * network may be cut anew and have other numbers of workers.
 */
public final class Checkpoint {
  private final Path folder;
  private final Manifest manifest;
  private final Map<String, Held> tensors = new LinkedHashMap<>();

  /** A tensor's file and extents. */
  private record Held(ShardReader shard, long[] shape) {}

  private Checkpoint(Path folder, Manifest manifest) {
    this.folder = folder;
    this.manifest = manifest;
  }

  /**
   * Reads what it holds, but no tensors.
   *
   * @throws BadInputException with a sentence where it is damaged or not whole
   */
  public static Checkpoint open(Path folder) {
    Checkpoint checkpoint = new Checkpoint(folder, ManifestFile.read(folder));
    for (Manifest.Shard shard : checkpoint.manifest.shards()) {
      ShardReader reader = ShardReader.open(folder, shard);
      reader
          .shapes()
          .forEach((name, shape) -> checkpoint.tensors.put(name, new Held(reader, shape)));
    }
    return checkpoint;
  }

  public Manifest manifest() {
    return manifest;
  }

  /** The names of its tensors. */
  public Set<String> names() {
    return Collections.unmodifiableSet(tensors.keySet());
  }

  /** The extents of a tensor that it has. */
  public long[] shape(String name) {
    Held held = tensors.get(name);
    if (held == null) {
      throw new IllegalArgumentException("no such tensor: name=" + name);
    }
    return held.shape.clone();
  }

  /** Reads every byte of it; throws {@link BadInputException} where one is not what was written. */
  public Checkpoint verify() {
    for (Manifest.Shard shard : manifest.shards()) {
      ShardReader.open(folder, shard).verify();
    }
    return this;
  }

  /** Throws {@link BadInputException} where it was made of another network. */
  public Checkpoint requireModel(String model) {
    if (!manifest.model().equals(model)) {
      throw new BadInputException(
          folder
              + ": was made of "
              + manifest.model()
              + ", but the plan is for "
              + model
              + "; give a checkpoint of "
              + model);
    }
    return this;
  }

  /**
   * A tensor that must be there, with these extents. It belongs to the scope that is open.
   *
   * @throws BadInputException where it is missing or has others
   */
  public Tensor read(String name, long... shape) {
    Held held = tensors.get(name);
    if (held == null) {
      throw new BadInputException(
          folder
              + ": has no "
              + name
              + ", which the network needs; give a checkpoint of the same network and optimizer");
    }
    if (!Arrays.equals(held.shape, shape)) {
      throw new BadInputException(
          folder
              + ": "
              + name
              + " is "
              + words(held.shape)
              + ", but the network's is "
              + words(shape)
              + "; give a checkpoint of the same network");
    }
    return held.shard.read(name);
  }

  private static String words(long... shape) {
    return shape.length == 0
        ? "a number"
        : Arrays.stream(shape).mapToObj(Long::toString).collect(Collectors.joining("×"));
  }
}
