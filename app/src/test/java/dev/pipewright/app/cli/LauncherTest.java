package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The launcher in a checkout whose build always fails, as its Maven is none. */
@DisabledOnOs(OS.WINDOWS)
class LauncherTest {
  private static final Path SCRIPT = Path.of("..", "pipewright").toAbsolutePath().normalize();

  @TempDir Path root;
  private Path lock = Path.of("");
  private Process run = start(new ProcessBuilder("true"));

  @BeforeEach
  void checkOut() throws IOException {
    Files.copy(SCRIPT, root.resolve("pipewright"));
    Path maven = Files.writeString(root.resolve("mvn"), "#!/bin/sh\necho no Maven\nexit 1\n");
    assertTrue(maven.toFile().setExecutable(true));
    lock = Files.createDirectories(root.resolve("app/target/launch")).resolve("lock");
  }

  @AfterEach
  void end() {
    run.destroyForcibly();
  }

  private static Process start(ProcessBuilder builder) {
    try {
      return builder.start();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private BufferedReader launched() {
    ProcessBuilder builder = new ProcessBuilder("bash", root.resolve("pipewright").toString());
    builder.environment().merge("PATH", root.toString(), (path, ours) -> ours + ":" + path);
    builder.environment().put("PIPEWRIGHT_JAVA_HOME", System.getProperty("java.home"));
    run = start(builder);
    return new BufferedReader(new InputStreamReader(run.getErrorStream(), StandardCharsets.UTF_8));
  }

  private static String started(long process) throws IOException {
    Process ps = start(new ProcessBuilder("ps", "-p", "" + process, "-o", "lstart="));
    return new String(ps.getInputStream().readAllBytes(), StandardCharsets.UTF_8).stripTrailing();
  }

  @Test
  void aBuildThatOthersWaitForIsNamed() throws Exception {
    long me = ProcessHandle.current().pid();
    Files.createDirectory(lock);
    Files.writeString(lock.resolve("owner"), me + "\n" + started(me) + "\n09:12:01\n");
    BufferedReader said = launched();
    assertEquals(
        "waiting for another build of Pipewright by process " + me + " since 09:12:01 …",
        said.readLine());
    assertTrue(Files.exists(lock), "a living owner keeps its lock");
    Files.delete(lock.resolve("owner"));
    Files.delete(lock); // it has ended
    assertEquals("building Pipewright (first use) …", said.readLine());
    assertEquals(2, run.waitFor());
    assertFalse(Files.exists(lock));
  }

  @Test
  void theLockOfADeadOwnerIsRemoved() throws Exception {
    Process dead = start(new ProcessBuilder("true"));
    String began = started(dead.pid());
    dead.waitFor();
    Files.createDirectory(lock);
    Files.writeString(lock.resolve("owner"), dead.pid() + "\n" + began + "\n09:12:01\n");
    assertRemoved();
  }

  @Test
  void theLockOfAnOwnerWhoseNumberAnotherProcessHasIsRemoved() throws Exception {
    Files.createDirectory(lock);
    Files.writeString(
        lock.resolve("owner"),
        ProcessHandle.current().pid() + "\nThu Jan  1 00:00:00 1970\n09:12:01\n");
    assertRemoved();
  }

  @Test
  void aLockWithoutOwnerIsRemovedAfterAWhile() throws Exception {
    Files.createDirectory(lock);
    assertRemoved();
  }

  private void assertRemoved() throws Exception {
    try (BufferedReader reader = launched();
        Stream<String> lines = reader.lines()) {
      String said = String.join("\n", lines.toList());
      int removed = said.indexOf("app/target/launch/lock, whose owner has ended");
      assertTrue(0 <= removed && removed < said.indexOf("building Pipewright (first use)"), said);
    }
    assertEquals(2, run.waitFor());
    assertFalse(Files.exists(lock));
  }
}
