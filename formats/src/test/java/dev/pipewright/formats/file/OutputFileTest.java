package dev.pipewright.formats.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class OutputFileTest {
  @TempDir Path folder;

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  /** A disk that is full after some bytes: the channel is closed before the rest arrives. */
  private static FileChannel full(Path fresh) throws IOException {
    FileChannel channel =
        FileChannel.open(fresh, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    channel.write(java.nio.ByteBuffer.wrap(new byte[] {'h', 'a', 'l', 'f'}));
    channel.close();
    throw new IOException("No space left on device");
  }

  @Test
  void aFullDiskLeavesTheOldFileAndNothingElse() throws IOException {
    Path file = folder.resolve("timeline.svg");
    OutputFile.write(file, "old");
    UncheckedIOException failure =
        assertThrows(
            UncheckedIOException.class,
            () -> OutputFile.write(file, out -> out.append("new"), OutputFileTest::full));
    assertEquals(file + ": cannot be written: No space left on device", failure.getMessage());
    assertEquals("old", Files.readString(file));
    assertEquals(List.of("timeline.svg"), names());
  }

  @Test
  void aFileThatIsReplacedIsWholeAtAnyTime() throws IOException {
    Path file = folder.resolve("plan.json");
    OutputFile.write(file, "old");
    Path other = folder.resolve("opened-before");
    Files.createLink(other, file); // stands for whoever reads it now
    OutputFile.write(file, "new");
    assertEquals("old", Files.readString(other));
    assertEquals("new", Files.readString(file));
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aLinkIsReplacedAndNotFollowed() throws IOException {
    Path foreign = Files.writeString(folder.resolve("foreign"), "precious");
    Path file = Files.createSymbolicLink(folder.resolve("plan.json"), foreign);
    OutputFile.write(file, "new");
    assertEquals("precious", Files.readString(foreign));
    assertTrue(Files.isRegularFile(file));
    assertFalse(Files.isSymbolicLink(file));
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aLinkIsRefusedBeforeAnyWorkAlsoOneThatLeadsNowhere() throws IOException {
    Path foreign = Files.writeString(folder.resolve("foreign"), "ours");
    for (Path to : List.of(foreign, folder.resolve("nowhere"))) {
      Path link = Files.createSymbolicLink(folder.resolve("link to " + to.getFileName()), to);
      assertEquals(
          "--svg: " + link + " is a symbolic link; name the file that it leads to",
          assertThrows(BadInputException.class, () -> OutputFile.check("--svg", link, file -> true))
              .getMessage());
    }
  }
}
