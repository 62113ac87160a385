package dev.pipewright.formats;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Opens files, and says in a sentence why one cannot be opened. */
final class InputFile {
  private InputFile() {}

  static void check(Path file) {
    if (!Files.exists(file)) {
      throw BadInputException.in(file, "no such file; give the path of an existing file");
    }
    if (Files.isDirectory(file)) {
      throw BadInputException.in(file, "is a directory; give the path of a file in it");
    }
    if (!Files.isReadable(file)) {
      throw BadInputException.in(file, "cannot be read; check its permissions");
    }
  }

  static InputStream open(Path file) {
    check(file);
    try {
      return Files.newInputStream(file);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  static BadInputException unreadable(Path file, IOException cause) {
    String reason = cause.getMessage() == null ? "the system gives no reason" : cause.getMessage();
    return BadInputException.in(file, "cannot be read: " + reason);
  }
}
