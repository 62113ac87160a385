package dev.pipewright.formats.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;

/** Writes files for tests and reads what is said about the bad ones. */
public final class Refusal {
  private Refusal() {}

  public static Path file(Path folder, String name, String text) {
    try {
      return Files.write(folder.resolve(name), text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The message without the folder: one line, no stack trace. */
  public static String of(Path file, Function<Path, ?> reader) {
    BadInputException refusal = assertThrows(BadInputException.class, () -> reader.apply(file));
    String message = String.valueOf(refusal.getMessage());
    assertFalse(message.contains("\n") || message.contains("Exception"), message);
    return message.replace(file.toString(), String.valueOf(file.getFileName()));
  }

  public static void assertRefused(String expected, Path file, Function<Path, ?> reader) {
    assertEquals(expected, of(file, reader));
  }
}
