package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TemporaryFolderTest {
  @TempDir Path parent;

  /** Makes a folder with a file and is killed, or waits for that when a second word is given. */
  static final class Leaves {
    public static void main(String[] arguments) throws Exception {
      TemporaryFolder folder = TemporaryFolder.in(Path.of(arguments[0]));
      Files.createFile(Files.createDirectory(folder.path().resolve("sub")).resolve("file"));
      System.out.println(folder.path());
      if (arguments.length == 1) {
        Runtime.getRuntime().halt(1);
      }
      Thread.sleep(60_000);
    }
  }

  private Process leaves(String... more) throws IOException {
    List<String> command =
        Stream.concat(
                Stream.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    Leaves.class.getName(),
                    parent.toString()),
                Stream.of(more))
            .toList();
    return new ProcessBuilder(command).start();
  }

  private List<Path> left() throws IOException {
    try (Stream<Path> all = Files.list(parent)) {
      return all.sorted().toList();
    }
  }

  @Test
  void isTheOwnersAloneAndGoesWithAllThatIsInIt() throws IOException {
    try (TemporaryFolder folder = TemporaryFolder.in(parent)) {
      Files.createFile(Files.createDirectory(folder.path().resolve("sub")).resolve("file"));
      if (Files.getFileStore(parent).supportsFileAttributeView("posix")) {
        assertEquals(
            "rwx------",
            PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.path())));
      }
      assertEquals(List.of(folder.path()), left());
    }
    assertEquals(List.of(), left());
  }

  @Test
  void theNextRunRemovesWhatAKilledOneHasLeft() throws Exception {
    Process killed = leaves();
    Path abandoned = Path.of(killed.inputReader().readLine());
    killed.waitFor();
    assertTrue(Files.exists(abandoned.resolve("sub/file")));
    TemporaryFolder.in(parent).close();
    assertEquals(List.of(), left());
  }

  @Test
  void foldersInUseStay() throws Exception {
    Process other = leaves("and waits");
    try (TemporaryFolder own = TemporaryFolder.in(parent)) {
      Path its = Path.of(other.inputReader().readLine());
      for (int i = 0; i < 2; i++) { // the second one would find the locks of the first lost
        TemporaryFolder.in(parent).close();
        assertTrue(Files.exists(its.resolve("sub/file")));
        assertTrue(Files.exists(own.path()));
      }
      other.destroyForcibly().waitFor();
      TemporaryFolder.in(parent).close();
      assertFalse(Files.exists(its));
      assertTrue(Files.exists(own.path()));
    }
  }

  @Test
  void whatIsNotOursStays() throws Exception {
    Path linked = Files.createDirectory(parent.resolve("elsewhere"));
    Files.writeString(linked.resolve("in-use"), "x");
    Files.createSymbolicLink(parent.resolve("pipewright-link"), linked);
    Files.createDirectory(parent.resolve("pipewright-cache-ann"));
    TemporaryFolder.in(parent).close();
    assertEquals(3, left().size());
    assertTrue(Files.exists(linked.resolve("in-use")));
  }
}
