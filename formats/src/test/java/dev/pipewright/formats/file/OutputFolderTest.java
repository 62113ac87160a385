package dev.pipewright.formats.file;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class OutputFolderTest {
  @TempDir Path top;

  private static OutputFolder open(Path folder, String... names) {
    return requireNonNull(OutputFolder.of(folder, names));
  }

  private static String refused(Path folder, String... names) {
    return String.valueOf(
        assertThrows(
                BadInputException.class,
                () -> requireNonNull(OutputFolder.of(folder, names)).close())
            .getMessage());
  }

  @Test
  void whatPipewrightWroteIsReplacedAndNothingElse() throws IOException {
    Path folder = top.resolve("new").resolve("out");
    for (String text : List.of("one", "two")) {
      try (OutputFolder out = open(folder, "plan.json")) {
        out.write("plan.json", text);
      }
      assertEquals(text, Files.readString(folder.resolve("plan.json")));
    }
    Files.writeString(folder.resolve("report.html"), "mine");
    assertEquals(
        "--out: "
            + folder.resolve("report.html")
            + " exists and is not Pipewright's; name another folder",
        refused(folder, "plan.json", "report.html"));
    assertEquals("mine", Files.readString(folder.resolve("report.html")));
  }

  @Test
  void aRunWithoutAResultLeavesNothing() {
    Path folder = top.resolve("new").resolve("out");
    open(folder, "plan.json").close();
    assertFalse(Files.exists(top.resolve("new")));
  }

  @Test
  void aFolderThatWasThereStays() {
    open(top, "plan.json").close();
    assertTrue(Files.isDirectory(top));
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aLinkInTheFolderIsRefusedWhereverItLeads() throws IOException {
    Path foreign = Files.writeString(top.resolve("foreign"), "precious");
    for (String name : List.of("plan.json", ".pipewright", ".pipewright.lock")) {
      for (Path to : List.of(foreign, top.resolve("nowhere"), top)) {
        Path folder = Files.createTempDirectory(top, "out");
        Path link = Files.createSymbolicLink(folder.resolve(name), to);
        assertEquals(
            "--out: "
                + link
                + " is a symbolic link, which is not followed; remove it or name another folder",
            refused(folder, "plan.json"));
      }
    }
    assertEquals("precious", Files.readString(foreign));
    assertFalse(Files.exists(top.resolve("nowhere")));
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aFolderInItIsNoLink() throws IOException {
    Path foreign = Files.createDirectory(top.resolve("foreign"));
    Path folder = Files.createDirectory(top.resolve("out"));
    Files.createSymbolicLink(folder.resolve("logs"), foreign);
    try (OutputFolder out = open(folder)) {
      assertThrows(BadInputException.class, () -> out.folder("logs"));
      assertThrows(BadInputException.class, () -> out.file("logs"));
      assertThrows(BadInputException.class, () -> out.write("logs", "text"));
      assertThrows(BadInputException.class, () -> out.remove("logs"));
      assertTrue(Files.isDirectory(out.folder("checkpoints")));
    }
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void theFolderItselfMayBeALinkToAFolder() throws IOException {
    Path real = Files.createDirectory(top.resolve("real"));
    Path link = Files.createSymbolicLink(top.resolve("link"), real);
    try (OutputFolder out = open(link, "plan.json")) {
      out.write("plan.json", "text");
    }
    assertEquals("text", Files.readString(real.resolve("plan.json")));
    Path dangling = Files.createSymbolicLink(top.resolve("dangling"), top.resolve("nowhere"));
    assertEquals(
        "--out: " + dangling + " is a symbolic link that leads nowhere; name a folder",
        refused(dangling, "plan.json"));
  }

  @Test
  void twoRunsNeverShareAFolder() {
    Path folder = top.resolve("out");
    try (OutputFolder first = open(folder, "plan.json")) {
      first.write("plan.json", "first");
      assertEquals(
          "--out: this process already writes to " + folder + "; name another folder",
          refused(folder, "plan.json"));
    }
    open(folder, "plan.json").close();
  }

  /** The system releases the lock of a process that is killed; its file stays. */
  @Test
  void aRunOfAnotherProcessIsRefusedUntilItEndsHoweverItDoes() throws Exception {
    Path folder = top.resolve("out");
    Process other =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                folder.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      assertEquals('!', other.getInputStream().read()); // it has the folder
      assertEquals(
          "--out: another run, process %d, writes to %s; wait for its end or name another folder"
              .formatted(other.pid(), folder),
          refused(folder, "plan.json"));
    } finally {
      other.destroyForcibly().waitFor();
    }
    try (OutputFolder mine = open(folder, "plan.json")) {
      mine.write("plan.json", "text");
    }
    assertEquals("text", Files.readString(folder.resolve("plan.json")));
  }

  /** Opens a folder and keeps it until it is killed. */
  static final class Holder {
    public static void main(String[] arguments) throws InterruptedException {
      try (OutputFolder out = open(Path.of(arguments[0]), "plan.json")) {
        out.write("plan.json", "theirs");
        System.out.print('!');
        System.out.flush();
        Thread.sleep(Long.MAX_VALUE);
      }
    }
  }
}
