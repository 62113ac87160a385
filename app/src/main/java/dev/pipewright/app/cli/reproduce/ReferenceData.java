package dev.pipewright.app.cli.reproduce;

import dev.pipewright.formats.file.BadInputException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * What other people measured and computed: a folder, or an archive of it, unpacked until closed.
 */
final class ReferenceData implements AutoCloseable {
  private static final int BLOCK = 512; // of tar
  private static final long MOST_BYTES = 1L << 28; // unpacked

  private final Path folder;
  private final boolean unpacked;

  private ReferenceData(Path folder, boolean unpacked) {
    this.folder = folder;
    this.unpacked = unpacked;
  }

  /** Throws {@link BadInputException} where there is neither a folder nor such an archive. */
  static ReferenceData of(Path data) {
    if (Files.isDirectory(data)) {
      return new ReferenceData(data, false);
    }
    String name = data.toString();
    boolean zip = name.endsWith(".zip");
    if (!Files.isRegularFile(data) || !(zip || name.endsWith(".tar.gz") || name.endsWith(".tgz"))) {
      throw new BadInputException(
          "--data: " + data + " is neither a folder nor a .tar.gz or .zip; give one of these");
    }
    try (InputStream in = new BufferedInputStream(Files.newInputStream(data))) {
      ReferenceData made = new ReferenceData(Files.createTempDirectory("pipewright-data"), true);
      try {
        made.unpack(in, zip);
        return made;
      } catch (IOException | RuntimeException e) {
        made.close();
        throw e;
      }
    } catch (IOException e) {
      throw new BadInputException(
          "--data: %s cannot be unpacked (%s); fetch it anew".formatted(data, e.getMessage()));
    }
  }

  /** The folder that has those of single sources: an archive may hold it in a folder of its own. */
  Path folder(List<String> needs) {
    boolean found =
        !needs.isEmpty() && needs.stream().map(folder::resolve).allMatch(Files::isDirectory);
    if (!unpacked || found) {
      return folder;
    }
    try (Stream<Path> entries = Files.list(folder)) {
      List<Path> all = entries.toList();
      return all.size() == 1 && Files.isDirectory(all.get(0)) ? all.get(0) : folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void unpack(InputStream in, boolean zip) throws IOException {
    if (zip) {
      ZipInputStream entries = new ZipInputStream(in);
      for (ZipEntry at = entries.getNextEntry(); at != null; at = entries.getNextEntry()) {
        if (!at.isDirectory()) {
          write(at.getName(), entries.readNBytes((int) MOST_BYTES));
        }
      }
      return;
    }
    InputStream tar = new GZIPInputStream(in);
    for (byte[] head = tar.readNBytes(BLOCK); head.length == BLOCK && head[0] != 0; ) {
      long size = Long.parseLong(text(head, 124, 11).strip(), 8);
      String prefix = text(head, 345, 155);
      String name = (prefix.isEmpty() ? "" : prefix + "/") + text(head, 0, 100);
      if (size > MOST_BYTES) {
        throw new IOException(name + " is too large");
      }
      byte[] content = tar.readNBytes((int) size);
      tar.skipNBytes((BLOCK - size % BLOCK) % BLOCK);
      if (head[156] == '0' || head[156] == 0) { // a file
        write(name, content);
      }
      head = tar.readNBytes(BLOCK);
    }
  }

  private static String text(byte[] head, int from, int most) {
    int end = from;
    while (end < from + most && head[end] != 0) {
      end++;
    }
    return new String(head, from, end - from, StandardCharsets.UTF_8);
  }

  private void write(String name, byte[] content) throws IOException {
    Path file = folder.resolve(name).normalize();
    if (!file.startsWith(folder)) {
      throw new IOException(name + " lies outside of it");
    }
    Files.createDirectories(file.resolveSibling(""));
    Files.write(file, content);
  }

  @Override
  public void close() {
    if (!unpacked) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
