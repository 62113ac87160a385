package dev.pipewright.bench.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.pipewright.runtime.launch.TemporaryFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What programs answer that print JSON, such as {@code ./pipewright … --json}. */
final class Answers {
  private static final JsonMapper JSON = new JsonMapper();

  private Answers() {}

  /** Runs a command; throws with what it said where it fails. */
  static JsonNode of(List<String> command) {
    try (TemporaryFolder temporary = TemporaryFolder.create()) {
      Path log = temporary.path().resolve("log");
      Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
      String text = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException(command + " failed: " + Files.readString(log));
      }
      return JSON.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
