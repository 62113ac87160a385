package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.checkpoint.TensorHead.Kind;
import dev.pipewright.runtime.tensor.Tensor;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * A checkpoint that is read. Tensors are found by their names, whichever worker wrote them, so the
 * network may be cut anew and have other numbers of workers.
 */
public final class Checkpoint {
  private final Path folder;
  private final Manifest manifest;
  private final Map<String, TensorFile> tensors = new LinkedHashMap<>();

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
      TensorFile file = ShardReader.open(folder, shard);
      file.kinds().forEach((name, kind) -> checkpoint.tensors.put(name, file));
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
    return entry(name).kind().shape().clone();
  }

  /** A tensor that it has. */
  TensorFile.Entry entry(String name) {
    TensorFile file = tensors.get(name);
    if (file == null) {
      throw new IllegalArgumentException("no such tensor: name=" + name);
    }
    return new TensorFile.Entry(file, name);
  }

  /** Throws {@link BadInputException} where one of two copies is missing, or they differ. */
  void requireEqual(String table, String copy) {
    TensorFile first = tensors.get(table);
    TensorFile second = tensors.get(copy);
    if (first == null || second == null || !first.sameBytes(table, second, copy)) {
      throw new BadInputException(
          "%s: %s and %s should be the same table and differ; give another checkpoint"
              .formatted(folder, table, copy));
    }
  }

  /** Reads every byte of it; throws {@link BadInputException} where one is not what was written. */
  public Checkpoint verify() {
    for (Manifest.Shard shard : manifest.shards()) {
      ShardReader.verify(folder, shard);
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
   * A tensor that must be there, with these extents. It belongs to the scope that is open. Without
   * an optimizer's state, what it remembers is zero, as before the first step.
   *
   * @throws BadInputException where it is missing or has others
   */
  public Tensor read(String name, long... shape) {
    TensorFile held = tensors.get(name);
    if (held == null) {
      if (manifest.isFresh() && StateNames.isMoment(name)) {
        return Tensor.zeros(shape);
      }
      throw new BadInputException(
          folder
              + ": has no "
              + name
              + ", which the network needs; give a checkpoint of the same network and optimizer");
    }
    long[] found = shape(name);
    if (!Arrays.equals(found, shape)) {
      throw new BadInputException(
          folder
              + ": "
              + name
              + " is "
              + Kind.words(found)
              + ", but the network's is "
              + Kind.words(shape)
              + "; give a checkpoint of the same network");
    }
    return held.read(name);
  }
}
