package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class ScheduleFilesTest {
  @TempDir Path folder;

  private Cli out(String schedule) {
    return Cli.schedule(schedule, 4, 8, "--out", folder.resolve("out").toString()).ends(0);
  }

  @Test
  void whatAnEarlierRunWroteAndThisOneCannotIsRemoved() {
    Path csv = folder.resolve("out").resolve("schedule.csv");
    out("1f1b");
    assertTrue(Files.exists(csv));
    String said = out("chimera").err();
    assertTrue(said.contains("removed schedule.csv of an earlier run from "), said);
    assertFalse(Files.exists(csv));
    assertFalse(out("chimera").err().contains("removed"));
    assertTrue(Cli.text(folder.resolve("out").resolve(".pipewright")).contains("schedule.svg"));
    Cli.file(folder.resolve("out"), "schedule.csv", "mine");
    Cli.schedule("1f1b", 4, 8, "--out", folder.resolve("out").toString())
        .refusal(2, "schedule.csv exists and is not Pipewright's");
    assertEquals("mine", Cli.text(csv));
  }

  /** Four gigabytes without a line end, of which the disk holds next to nothing. */
  @Test
  void ofALargeFileOnlyTheHeadIsRead() throws IOException {
    Path large = folder.resolve("large");
    try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
      file.setLength(1L << 32);
    }
    for (String option : List.of("--csv", "--csv-transfers", "--svg", "--html", "--trace")) {
      Cli.schedule("1f1b", 2, 2, option, large.toString())
          .refusal(2, option + ": ", "exists and is no such file of Pipewright's");
    }
    assertEquals(1L << 32, Files.size(large));
  }

  /** A writer waits until the pipe is opened for reading, which nothing does but the test. */
  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aPipeIsNotReadToSeeWhoseItIs() throws IOException, InterruptedException {
    Path pipe = folder.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    AtomicBoolean opened = new AtomicBoolean();
    Thread writer =
        new Thread(() -> {
          try {
            Files.newOutputStream(pipe).close();
            opened.set(true);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    writer.start();
    for (String option : List.of("--csv", "--svg")) {
      Cli.schedule("1f1b", 2, 2, option, pipe.toString())
          .refusal(2, "exists and is no such file of Pipewright's");
    }
    assertFalse(opened.get());
    Files.newInputStream(pipe).close();
    writer.join();
  }

  @Test
  void oursAreReplaced() {
    for (String option : List.of("--csv", "--csv-transfers", "--svg", "--html", "--trace")) {
      String file = folder.resolve("file" + option).toString();
      Cli.schedule("1f1b", 2, 2, option, file).ends(0);
      String before = Cli.text(Path.of(file));
      Cli.schedule("1f1b", 2, 3, option, file).ends(0);
      assertFalse(before.equals(Cli.text(Path.of(file))));
    }
  }
}
