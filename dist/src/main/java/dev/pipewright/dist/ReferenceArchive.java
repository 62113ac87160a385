package dev.pipewright.dist;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;

/**
 * Packs the reference data that may be passed on, for `pipewright reproduce`, with the texts of its
 * licences and the notices of those whose it is.
 */
public final class ReferenceArchive {
  private static final String TOP = "pipewright-reference/";

  private static final String LICENCES = "licences";
  private static final String NOTICE = "NOTICE.md";

  /** A line of the list: a path, its licences, its source. */
  private record Part(String path, List<String> licences, String source) {
    static Part of(String line) {
      String[] cells = line.split("\t", -1);
      if (cells.length != 3) {
        throw new IllegalStateException("no path, licences and source: " + line);
      }
      return new Part(cells[0], List.of(cells[1].split(", ", -1)), cells[2]);
    }
  }

  private ReferenceArchive() {}

  /**
   * Writes nothing where the reference folder is absent, and leaves out files that it lacks.
   *
   * @param args the list, next to which the texts of licences are, the reference folder, the
   *     archive, and the time of its files
   * @throws java.nio.file.NoSuchFileException where the text of a licence is missing
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
      Path texts = Path.of(args[0]).resolveSibling(LICENCES);
      add(tar, LICENCES + "/" + NOTICE, Files.readAllBytes(texts.resolve(NOTICE)), time);
      for (String licence : licences(parts)) {
        String name = licence + ".txt";
        add(tar, LICENCES + "/" + name, Files.readAllBytes(texts.resolve(name)), time);
      }
      for (Part part : parts) {
        add(tar, part.path(), Files.readAllBytes(folder.resolve(part.path())), time);
      }
    }
  }

  private static Set<String> licences(List<Part> parts) {
    return parts.stream()
        .flatMap(part -> part.licences().stream())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String readMe(List<Part> parts) {
    return "# Reference data of Pipewright\n\nFor `pipewright reproduce NAME --data` this archive. The folder `licences` has the texts of the licences, and `NOTICE.md` says whose the data is.\n\n"
        + "| file | licence | source |\n|---|---|---|\n"
        + parts.stream()
            .map(part ->
                "| %s | %s | %s |%n"
                    .formatted(part.path(), String.join(", ", part.licences()), part.source()))
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
