package dev.pipewright.app.cli.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisabledOnOs(OS.WINDOWS)
class RunTokenTest {
  private static final String TOKEN = "0123456789abcdef0123456789abcdef";
  private static final Map<String, String> NONE = Map.of();

  @TempDir Path folder;

  private Path file(String text, String permissions) throws IOException {
    Path file = Files.writeString(folder.resolve("token"), text);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }

  private static String refusal(Map<String, String> environment, @Nullable Path file) {
    return String.valueOf(
        assertThrows(BadInputException.class, () -> RunToken.of(environment, file)).getMessage());
  }

  @Test
  void theFileComesBeforeTheVariable() throws IOException {
    Map<String, String> environment = Map.of(RunToken.VARIABLE, "x".repeat(32));
    assertEquals(TOKEN, RunToken.of(environment, file(TOKEN + "\n", "rw-------")));
    assertEquals("x".repeat(32), RunToken.of(environment, null));
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw----r--", "rw--w----", "rw-----w-"})
  void aFileThatOthersCanReadOrChangeIsRefused(String permissions) throws IOException {
    Path file = file(TOKEN, permissions);
    assertEquals(
        "--token-file: %s can be read or changed by other users; run chmod 600 on it"
            .formatted(file),
        refusal(NONE, file));
  }

  @Test
  void noTokenAShortOneAndNoFileAreSaid() throws IOException {
    Path missing = folder.resolve("missing");
    assertEquals(
        "--token-file: no such file: %s; give one that all ranks can read".formatted(missing),
        refusal(NONE, missing));
    Path empty = file("\n", "rw-------");
    assertEquals(
        "--token-file: %s is empty; write a secret into it, as `openssl rand -hex 16` prints one"
            .formatted(empty),
        refusal(NONE, empty));
    assertEquals(
        "PIPEWRIGHT_TOKEN: a token of 6 characters can be guessed; give at least 16",
        refusal(Map.of(RunToken.VARIABLE, "secret"), null));
    assertEquals(
        "PIPEWRIGHT_TOKEN is not set; set it to the same secret for all ranks, as `openssl rand"
            + " -hex 16` prints one, or give --token-file FILE",
        refusal(NONE, null));
  }
}
