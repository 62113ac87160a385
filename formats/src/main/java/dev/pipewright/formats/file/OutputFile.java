package dev.pipewright.formats.file;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;

/**
 * Writes files, text in UTF-8, each whole or not at all: into a new file of the same folder, which
 * takes the name once everything is on the disk. What was there before stays where that fails, for
 * example on a full disk. No symbolic link is followed.
 */
public final class OutputFile {
  private static final int BUFFER = 1 << 16; // characters

  private OutputFile() {}

  /** Opens a new file for writing. */
  @FunctionalInterface
  interface Opener {
    FileChannel open(Path fresh) throws IOException;
  }

  /** Text that is made while it is written, since some is larger than memory is. */
  @FunctionalInterface
  public interface Text {
    void to(Appendable out) throws IOException;
  }

  /** Bytes that are made while they are written. */
  @FunctionalInterface
  public interface Bytes {
    void to(FileChannel out) throws IOException;
  }

  /** Throws {@link UncheckedIOException} with one sentence where the file cannot be written. */
  public static void write(Path file, String text) {
    write(file, out -> out.append(text));
  }

  /** Writes a file piece by piece, whole or not at all. */
  public static void write(Path file, Text text) {
    write(file, text, OutputFile::fresh);
  }

  private static FileChannel fresh(Path file) throws IOException {
    return FileChannel.open(
        file,
        StandardOpenOption.CREATE_NEW, // which follows no link
        StandardOpenOption.WRITE);
  }

  /** Writes a file of bytes, whole or not at all. */
  public static void writeBytes(Path file, Bytes bytes) {
    writeBytes(file, bytes, OutputFile::fresh);
  }

  static void write(Path file, Text text, Opener opener) {
    Bytes encoded =
        channel -> {
          Writer out =
              new BufferedWriter(Channels.newWriter(channel, StandardCharsets.UTF_8), BUFFER);
          text.to(out);
          out.flush();
        };
    writeBytes(file, encoded, opener);
  }

  private static void writeBytes(Path file, Bytes bytes, Opener opener) {
    String suffix = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    Path fresh = file.resolveSibling("." + file.getFileName() + "." + suffix + ".new");
    try {
      try (FileChannel channel = opener.open(fresh)) {
        bytes.to(channel);
        channel.force(true);
      }
      Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      forget(fresh);
      throw failed(file, "cannot be written", e);
    } catch (RuntimeException e) { // what was to be written could not be made
      forget(fresh);
      throw e;
    }
  }

  private static void forget(Path fresh) {
    try {
      Files.deleteIfExists(fresh);
    } catch (IOException e) {
      // what could not be written matters more
    }
  }

  /**
   * Refuses a file that must not be written, before any work: one in no folder, a folder, a
   * symbolic link, and one that holds anything else than what the command writes there.
   *
   * @param option that names it
   * @param ours whether an existing file is one that may be replaced
   */
  public static void check(String option, Path file, Predicate<Path> ours) {
    if (Files.isSymbolicLink(file)) {
      throw new BadInputException(
          option + ": " + file + " is a symbolic link; name the file that it leads to");
    }
    if (Files.isDirectory(file)) {
      throw new BadInputException(option + ": " + file + " is a folder; name a file in it");
    }
    if (Files.exists(file) && !(Files.isRegularFile(file) && ours.test(file))) {
      throw new BadInputException(
          option + ": " + file + " exists and is no such file of Pipewright's; name another");
    }
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new BadInputException(
          option + ": " + file + " is in no folder that exists; make the folder first");
    }
  }

  /**
   * Refuses a file whose name ends as that of another format; a name without an ending is any.
   *
   * @param option that names it
   * @param ending of the format that is written, such as {@code .svg}
   */
  public static void checkEnding(String option, Path file, String ending) {
    String name = String.valueOf(file.getFileName());
    int dot = name.lastIndexOf('.');
    if (dot > 0 && !name.substring(dot).equalsIgnoreCase(ending)) {
      throw new BadInputException(
          "%s: %s ends in %s, but what is written is %s; name it %s"
              .formatted(
                  option,
                  file,
                  name.substring(dot),
                  ending.substring(1).toUpperCase(Locale.ROOT),
                  file.resolveSibling(name.substring(0, dot) + ending)));
    }
  }

  /** Throws {@link BadInputException} where a path is a symbolic link, and so may lead anywhere. */
  public static Path notLinked(Path path) {
    if (Files.isSymbolicLink(path)) {
      throw new BadInputException(
          path + ": is a symbolic link, which is not followed; remove it or name another folder");
    }
    return path;
  }

  /** A folder that is there or is made now; throws where a link or a file has its name. */
  public static Path folder(Path path) {
    notLinked(path);
    if (Files.exists(path) && !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new BadInputException(path + ": is a file; remove it or name another folder");
    }
    try {
      return Files.createDirectories(path);
    } catch (IOException e) {
      throw failed(path, "cannot be made", e);
    }
  }

  /**
   * A failure as one sentence: {@code FILE: cannot be written: No space left on device}.
   *
   * @param what cannot be done with the file
   */
  public static UncheckedIOException failed(Path file, String what, IOException cause) {
    String reason = reason(cause);
    return new UncheckedIOException(
        file + ": " + what + (reason.isEmpty() ? "" : ": " + reason), cause);
  }

  /** What the system says, without names of classes; empty where it says nothing. */
  public static String reason(IOException cause) {
    if (cause instanceof AccessDeniedException) {
      return "Permission denied";
    }
    String said = cause instanceof FileSystemException file ? file.getReason() : cause.getMessage();
    return said == null ? "" : said;
  }
}
