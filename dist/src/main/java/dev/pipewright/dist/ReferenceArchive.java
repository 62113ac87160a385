package dev.pipewright.dist;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;

/** Packs the reference data that may be passed on, for `pipewright reproduce`. */
public final class ReferenceArchive {
  private static final String TOP = "pipewright-reference/";

  /** A line of the list: a path, its licence, its source. */
  private record Part(String path, String licence, String source) {
    static Part of(String line) {
      String[] cells = line.split("\t", -1);
      if (cells.length != 3) {
        throw new IllegalStateException("no path, licence and source: " + line);
      }
      return new Part(cells[0], cells[1], cells[2]);
    }
  }

  private ReferenceArchive() {}

  /**
   * Writes nothing where the reference folder is absent, and leaves out files that it lacks.
   *
   * @param args the list, the reference folder, the archive, and the time of its files
   */
  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[1]);
    Path archive = Path.of(args[2]);
    Files.deleteIfExists(archive);
    List<Part> parts =
        Files.readAllLines(Path.of(args[0])).stream()
            .filter(line -> !line.startsWith("#"))
            .map(Part::of)
            .filter(part -> Files.isRegularFile(folder.resolve(part.path())))
            .toList();
    if (parts.isEmpty()) {
      System.out.println("No archive of reference data: " + folder + " has none of its files.");
      return;
    }
    FileTime time = FileTime.from(Instant.parse(args[3]));
    try (OutputStream out = Files.newOutputStream(archive);
        TarArchiveOutputStream tar =
            new TarArchiveOutputStream(new GzipCompressorOutputStream(out))) {
      add(tar, "README.md", readMe(parts).getBytes(StandardCharsets.UTF_8), time);
      for (Part part : parts) {
        add(tar, part.path(), Files.readAllBytes(folder.resolve(part.path())), time);
      }
    }
  }

  private static String readMe(List<Part> parts) {
    return "# Reference data of Pipewright\n\nFor `pipewright reproduce NAME --data` this archive.\n\n"
        + "| file | licence | source |\n|---|---|---|\n"
        + parts.stream()
            .map(part -> "| %s | %s | %s |%n".formatted(part.path(), part.licence(), part.source()))
            .collect(Collectors.joining());
  }

  private static void add(TarArchiveOutputStream tar, String name, byte[] content, FileTime time)
      throws IOException {
    TarArchiveEntry entry = new TarArchiveEntry(TOP + name);
    entry.setSize(content.length);
    entry.setLastModifiedTime(time);
    tar.putArchiveEntry(entry);
    tar.write(content);
    tar.closeArchiveEntry();
  }
}
