package dev.pipewright.formats.file;

import java.io.BufferedInputStream;
import java.io.CharConversionException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.ZipException;

/**
 * Opens files, and says in a sentence why one cannot be opened. {@code -} is standard input; it and
 * other pipes can be opened as often as files.
 */
public final class InputFile {
  private static final Path STANDARD_INPUT = Path.of("-");
  private static final Map<Path, PipedInput> PIPES = new ConcurrentHashMap<>();

  private static final int MOST_BLANK = 1 << 20; // bytes before anything else

  private InputFile() {}

  public static void check(Path file) {
    if (file.equals(STANDARD_INPUT)) {
      return;
    }
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

  public static InputStream open(Path file) {
    check(file);
    try {
      if (Files.isRegularFile(file) && !file.equals(STANDARD_INPUT)) {
        return Files.newInputStream(file);
      }
      PipedInput pipe = PIPES.get(file);
      if (pipe == null) {
        boolean standard = file.equals(STANDARD_INPUT);
        pipe = new PipedInput(standard ? System.in : Files.newInputStream(file));
        PIPES.put(file, pipe);
      }
      return pipe.open();
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  /** The first byte that is no white space and no byte order mark; −1 where there is none. */
  public static int first(Path file) {
    try (InputStream in = new BufferedInputStream(new ShortInput(open(file), file, MOST_BLANK))) {
      int c = in.read();
      while (c >= 0 && (Character.isWhitespace(c) || c == 0xEF || c == 0xBB || c == 0xBF)) {
        c = in.read();
      }
      return c;
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  public static BadInputException unreadable(Path file, IOException cause) {
    if (cause
        instanceof CharConversionException) { // its first bytes look like those of UTF-16 or 32
      return BadInputException.at(file, 1, "is not text in UTF-8; save it as UTF-8");
    }
    if (cause instanceof EOFException) {
      return BadInputException.in(file, "ends before its compressed data do; copy it again");
    }
    if (cause instanceof ZipException) {
      return BadInputException.in(file, "is damaged where it is compressed; copy it again");
    }
    String reason = cause.getMessage() == null ? "the system gives no reason" : cause.getMessage();
    return BadInputException.in(file, "cannot be read: " + reason);
  }
}
