package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes a command's files into a folder: all or nothing of each file, and never over one that
 * Pipewright did not write. The folder's {@code .pipewright} lists those that it did.
 */
final class OutputFolder {
  private static final String LIST = ".pipewright";

  private final Path folder;
  private final List<String> ours;

  private OutputFolder(Path folder, List<String> ours) {
    this.folder = folder;
    this.ours = ours;
  }

  /** Opens or makes a folder for the named files; throws before anything is written. */
  static OutputFolder of(Path folder, String... names) {
    try {
      if (Files.exists(folder) && !Files.isDirectory(folder)) {
        throw new BadInputException("--out: " + folder + " is a file; name a folder");
      }
      Files.createDirectories(folder);
      Path list = folder.resolve(LIST);
      List<String> ours =
          Files.exists(list) ? new ArrayList<>(Files.readAllLines(list)) : new ArrayList<>();
      for (String name : names) {
        if (Files.exists(folder.resolve(name)) && !ours.contains(name)) {
          throw new BadInputException(
              "--out: "
                  + folder.resolve(name)
                  + " exists and is not Pipewright's; name another folder");
        }
      }
      return new OutputFolder(folder, ours);
    } catch (IOException e) {
      throw new UncheckedIOException("--out: " + folder + " cannot be written", e);
    }
  }

  void write(String name, String text) {
    try {
      if (!ours.contains(name)) {
        ours.add(name);
        replace(LIST, String.join("\n", ours) + "\n");
      }
      replace(name, text);
    } catch (IOException e) {
      throw new UncheckedIOException("--out: " + folder.resolve(name) + " cannot be written", e);
    }
  }

  private void replace(String name, String text) throws IOException {
    Path fresh = folder.resolve("." + name + ".new");
    Files.writeString(fresh, text);
    Files.move(
        fresh,
        folder.resolve(name),
        StandardCopyOption.REPLACE_EXISTING,
        StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
