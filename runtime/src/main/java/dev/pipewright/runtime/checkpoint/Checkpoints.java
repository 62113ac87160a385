package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.units.Check;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A folder of checkpoints. One is written under a temporary name and gets its own when everything
 * of it is on the disk; so whatever bears the name is whole, and a run that is killed leaves the
 * last one as it was. Nothing outside the folder is written or deleted: links in it are not
 * followed, and of a checkpoint only the files that it was written with are deleted.
 *
 * <pre>{@code
 * coordinator: begin(step)                                    commit(manifest)
 * each worker:              Shards.write(folder, file, tensors)
 * }</pre>
 */
public final class Checkpoints {
  private static final Pattern NAME = Pattern.compile("step-\\d{6,}");
  private static final Pattern OURS = Pattern.compile(NAME + "(\\.writing|\\.replaced)?");
  private static final String SHARD = ".safetensors";
  private static final String WRITING = ".writing";
  private static final String REPLACED = ".replaced";

  private final Path root;
  private final int kept;

  /**
   * @param kept how many are kept; older ones are deleted
   */
  public Checkpoints(Path root, int kept) {
    Check.that(kept >= 1, "the last checkpoint is kept: kept=%d", kept);
    this.root = root;
    this.kept = kept;
  }

  private static String name(long step) {
    return String.format(Locale.ROOT, "step-%06d", step);
  }

  /** Throws {@link BadInputException} where something in the folder leads out of it. */
  public Checkpoints requireInside() {
    OutputFile.notLinked(root);
    try {
      for (Path entry : Files.isDirectory(root) ? entries(root) : List.<Path>of()) {
        if (OURS.matcher(entry.getFileName().toString()).matches()) {
          OutputFile.notLinked(entry);
        }
      }
      return this;
    } catch (IOException e) {
      throw OutputFile.failed(root, "cannot be read", e);
    }
  }

  /** A new folder for the workers' files; what a killed run has left of others is deleted. */
  public Path begin(long step) {
    OutputFile.folder(root);
    try {
      recover();
      for (Path leftover : entries(root)) {
        if (isOurs(leftover, WRITING)) {
          delete(leftover);
        }
      }
      return Files.createDirectory(root.resolve(name(step) + WRITING));
    } catch (IOException e) {
      throw OutputFile.failed(root, "no checkpoint can be written there", e);
    }
  }

  /** Finishes the checkpoint that was begun, once all files of its manifest are written. */
  public Path commit(Manifest manifest) {
    Path place = root.resolve(name(manifest.step()));
    Path writing = root.resolve(name(manifest.step()) + WRITING);
    Path replaced = root.resolve(name(manifest.step()) + REPLACED);
    try {
      writeThrough(writing.resolve(ManifestFile.NAME), ManifestFile.bytes(manifest));
      synchronize(writing);
      if (Files.exists(place)) {
        Files.move(place, replaced, StandardCopyOption.ATOMIC_MOVE);
      }
      Files.move(writing, place, StandardCopyOption.ATOMIC_MOVE);
      synchronize(root);
      if (isOurs(replaced, REPLACED)) {
        delete(replaced);
      }
      forgetOldest(place);
      return place;
    } catch (IOException e) {
      throw OutputFile.failed(writing, "the checkpoint cannot be finished", e);
    }
  }

  /** The whole ones, by step. */
  public List<Path> all() {
    try {
      if (!Files.isDirectory(root)) {
        return List.of();
      }
      recover();
      return entries(root).stream()
          .filter(path -> NAME.matcher(path.getFileName().toString()).matches())
          .filter(path -> Files.exists(path.resolve(ManifestFile.NAME)))
          .sorted((a, b) -> Long.compare(step(a), step(b)))
          .toList();
    } catch (IOException e) {
      throw OutputFile.failed(root, "cannot be read", e);
    }
  }

  /** The one with the most steps. */
  public Optional<Path> latest() {
    List<Path> all = all();
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(all.size() - 1));
  }

  private static long step(Path path) {
    return Long.parseLong(path.getFileName().toString().substring("step-".length()));
  }

  /** Gives back its name to one that was about to be replaced. */
  private void recover() throws IOException {
    if (Files.isSymbolicLink(root)) {
      return; // then it is only read
    }
    for (Path path : entries(root)) {
      String name = path.getFileName().toString();
      if (isOurs(path, REPLACED)) {
        Path place = root.resolve(name.substring(0, name.length() - REPLACED.length()));
        if (Files.exists(place)) {
          delete(path);
        } else {
          Files.move(path, place, StandardCopyOption.ATOMIC_MOVE);
        }
      }
    }
  }

  private void forgetOldest(Path newest) throws IOException {
    List<Path> others =
        all().stream().filter(path -> !path.equals(newest) && isOurs(path, "")).toList();
    for (Path path : others.subList(0, Math.max(0, others.size() + 1 - kept))) {
      delete(path);
    }
  }

  private static List<Path> entries(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.sorted().toList();
    }
  }

  /** Whether it is a folder of a checkpoint and no link to one. */
  private static boolean isOurs(Path path, String suffix) {
    String name = path.getFileName().toString();
    return OURS.matcher(name).matches()
        && name.endsWith(suffix)
        && Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * The manifest goes first: what is left without it is no checkpoint any more. Other files, and a
   * folder that has some, stay.
   */
  private static void delete(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(ManifestFile.NAME));
    boolean empty = true;
    for (Path file : entries(folder)) {
      boolean shard =
          file.toString().endsWith(SHARD) && !Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS);
      if (shard) {
        Files.delete(file);
      }
      empty &= shard;
    }
    if (empty) {
      Files.delete(folder);
    }
  }

  private static void writeThrough(Path file, byte[] bytes) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(true);
    }
  }

  /** Has the names in a folder reach the disk, where the system can do that. */
  private static void synchronize(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (IOException e) {
      if (File.separatorChar != '\\') { // Windows opens no folders
        throw e;
      }
    }
  }
}
