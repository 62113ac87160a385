package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes a command's files into a folder: all or nothing of each file, and never over one that
 * Pipewright did not write. The folder's {@code .pipewright} lists those that it did. The folder is
 * made with its first file, so that a command without a result leaves nothing behind.
 */
final class OutputFolder {
  private static final String LIST = ".pipewright";

  private final Path folder;
  private final List<String> ours;

  private OutputFolder(Path folder, List<String> ours) {
    this.folder = folder;
    this.ours = ours;
  }

  /** A folder for the named files; throws before anything is written. */
  static OutputFolder of(Path folder, String... names) {
    checkWritable(folder);
    Path list = folder.resolve(LIST);
    List<String> ours = new ArrayList<>();
    try {
      if (Files.exists(list)) {
        ours.addAll(Files.readAllLines(list));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("--out: " + list + " cannot be read", e);
    }
    for (String name : names) {
      Path file = folder.resolve(name);
      if (Files.isDirectory(file)) {
        throw new BadInputException("--out: " + file + " is a folder; name another folder");
      }
      if (Files.exists(file, LinkOption.NOFOLLOW_LINKS) && !ours.contains(name)) {
        throw new BadInputException(
            "--out: " + file + " exists and is not Pipewright's; name another folder");
      }
    }
    return new OutputFolder(folder, ours);
  }

  private static void checkWritable(Path folder) {
    Path there = folder.toAbsolutePath();
    while (there.getParent() != null && !Files.exists(there)) {
      there = there.getParent();
    }
    if (!Files.isDirectory(there)) {
      throw new BadInputException("--out: " + there + " is a file; name a folder");
    }
    if (!Files.isWritable(there)) {
      throw new BadInputException(
          "--out: " + there + " cannot be written; name a folder where you may write");
    }
  }

  void write(String name, String text) {
    try {
      Files.createDirectories(folder);
      if (!ours.contains(name)) {
        ours.add(name);
        replace(LIST, String.join("\n", ours) + "\n");
      }
      replace(name, text);
    } catch (IOException e) {
      throw new UncheckedIOException("--out: " + folder.resolve(name) + " cannot be written", e);
    }
  }

  /**
   * Deletes a file that Pipewright wrote and that is no longer right; says whether there was one.
   */
  boolean remove(String name) {
    try {
      if (!ours.remove(name)) {
        return false;
      }
      boolean there = Files.deleteIfExists(folder.resolve(name));
      replace(LIST, String.join("\n", ours) + "\n");
      return there;
    } catch (IOException e) {
      throw new UncheckedIOException("--out: " + folder.resolve(name) + " cannot be removed", e);
    }
  }

  private void replace(String name, String text) throws IOException {
    Path fresh = folder.resolve("." + name + ".new");
    try {
      Files.writeString(fresh, text);
      Files.move(
          fresh,
          folder.resolve(name),
          StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      Files.deleteIfExists(fresh);
      throw e;
    }
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
