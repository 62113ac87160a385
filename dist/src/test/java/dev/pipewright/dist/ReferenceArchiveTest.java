package dev.pipewright.dist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReferenceArchiveTest {
  private static final Path SOURCES = Path.of("src/main/reference");
  private static final String TOP = "pipewright-reference/";

  @TempDir Path folder;

  /** The files of an archive whose data consists of the file names alone. */
  private Map<String, String> packed(Path list, List<String> data) throws IOException {
    Path reference = Files.createDirectories(folder.resolve("reference"));
    for (String name : data) {
      Path file = reference.resolve(name);
      Files.createDirectories(file.getParent());
      Files.writeString(file, name);
    }
    Path archive = folder.resolve("archive.tar.gz");
    ReferenceArchive.main(
        new String[] {
          list.toString(), reference.toString(), archive.toString(), "2026-01-01T00:00:00Z"
        });
    Map<String, String> files = new TreeMap<>();
    try (var tar =
        new TarArchiveInputStream(new GzipCompressorInputStream(Files.newInputStream(archive)))) {
      for (TarArchiveEntry at = tar.getNextEntry(); at != null; at = tar.getNextEntry()) {
        files.put(at.getName(), new String(tar.readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    return files;
  }

  private static List<String[]> listed() throws IOException {
    return Files.readAllLines(SOURCES.resolve("files.txt")).stream()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("\t", -1))
        .toList();
  }

  @Test
  void everyFileComesWithTheTextsOfItsLicences() throws IOException {
    List<String> paths = listed().stream().map(cells -> cells[0]).toList();
    Map<String, String> files = packed(SOURCES.resolve("files.txt"), paths);
    List<String> expected = new ArrayList<>(List.of("README.md", "licences/NOTICE.md"));
    expected.addAll(paths);
    for (String[] cells : listed()) {
      for (String licence : cells[1].split(", ", -1)) {
        expected.add("licences/" + licence + ".txt");
        String text = files.getOrDefault(TOP + "licences/" + licence + ".txt", "");
        assertTrue(text.length() > 900, cells[0] + " is under " + licence);
        assertTrue(files.getOrDefault(TOP + "README.md", "").contains(cells[0]), cells[0]);
      }
    }
    assertEquals(
        expected.stream().map(TOP::concat).sorted().distinct().toList(),
        List.copyOf(files.keySet()));
    assertEquals(paths.get(0), files.get(TOP + paths.get(0)));
  }

  /** Of the reference folders these alone come from works under a licence that allows it. */
  @Test
  void noFolderWithoutALicenceIsPassedOn() throws IOException {
    Stream<String> folders = listed().stream().map(cells -> cells[0].replaceFirst("/.*", ""));
    assertEquals(List.of("calculon", "measured"), folders.sorted().distinct().toList());
  }

  @Test
  void aLicenceWithoutTextIsRefused() throws IOException {
    Path list = Files.writeString(folder.resolve("files.txt"), "a/b.csv\tEPL-2.0\tsomebody\n");
    Path texts = Files.createDirectories(folder.resolve("licences"));
    Files.copy(SOURCES.resolve("licences/NOTICE.md"), texts.resolve("NOTICE.md"));
    NoSuchFileException missing =
        assertThrows(NoSuchFileException.class, () -> packed(list, List.of("a/b.csv")));
    assertTrue(String.valueOf(missing.getMessage()).endsWith("EPL-2.0.txt"), missing::getMessage);
  }
}
