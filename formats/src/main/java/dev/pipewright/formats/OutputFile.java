package dev.pipewright.formats;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes text files in UTF-8. */
final class OutputFile {
  private OutputFile() {}

  static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": cannot be written", e);
    }
  }
}
