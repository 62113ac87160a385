package dev.pipewright.app.cli.launch;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.PrivateFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The secret that all ranks of a run share, or all users of served pages. It is read from the
 * environment or from a file that only its owner can read: other users of a machine see the command
 * lines of its processes.
 */
public final class RunToken {
  public static final String VARIABLE = "PIPEWRIGHT_TOKEN";

  private static final int LEAST = 16; // characters: what can be guessed is no secret
  private static final int MOST_BYTES = 4096;

  private RunToken() {}

  /** The token of all ranks. */
  static String of(Map<String, String> environment, @Nullable Path file) {
    return of(environment, file, "the same secret for all ranks");
  }

  /**
   * The token of a file where one is given, otherwise that of the environment.
   *
   * @param what it is
   */
  public static String of(Map<String, String> environment, @Nullable Path file, String what) {
    String token = file != null ? read(file) : environment.getOrDefault(VARIABLE, "").strip();
    String where = file != null ? "--token-file: " + file : VARIABLE;
    if (token.isEmpty()) {
      throw new BadInputException(
          file != null
              ? where + " is empty; write a secret into it, as `openssl rand -hex 16` prints one"
              : VARIABLE
                  + " is not set; set it to "
                  + what
                  + ", as `openssl rand -hex 16` prints one, or give --token-file FILE");
    }
    if (token.length() < LEAST) {
      throw new BadInputException(
          "%s: a token of %d characters can be guessed; give at least %d"
              .formatted(where, token.length(), LEAST));
    }
    return token;
  }

  private static String read(Path file) {
    try {
      PrivateFile.require("--token-file", file);
      if (Files.size(file) > MOST_BYTES || !Files.isRegularFile(file)) {
        throw new BadInputException(
            "--token-file: %s holds no token; give a file with one line".formatted(file));
      }
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip();
    } catch (NoSuchFileException e) {
      throw new BadInputException(
          "--token-file: no such file: %s; give one that all ranks can read".formatted(file));
    } catch (IOException e) {
      throw new BadInputException(
          "--token-file: %s cannot be read; give one that this user owns".formatted(file));
    }
  }
}
