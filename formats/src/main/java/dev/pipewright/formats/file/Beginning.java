package dev.pipewright.formats.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** How a file begins, by which its format is recognised. */
public final class Beginning {
  private static final int GLANCE = 1 << 16; // with a thousand labels before a network's kind

  private Beginning() {}

  /**
   * The first 64 KiB as text, without white space at both ends; empty for a file of white space.
   */
  public static String of(Path file) {
    try (InputStream in = InputFile.open(file)) {
      String text = new String(in.readNBytes(GLANCE), StandardCharsets.UTF_8).strip();
      return text.startsWith("\uFEFF") ? text.substring(1).strip() : text;
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }
}
