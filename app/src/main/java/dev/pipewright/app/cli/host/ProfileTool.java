package dev.pipewright.app.cli.host;

import dev.pipewright.formats.file.BadInputException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Measures a network of PyTorch with {@code tools/pipewright_profile.py}, which this program
 * carries.
 *
 * @param python the command that starts Python
 * @param err where the tool's words go
 */
public record ProfileTool(String python, PrintWriter err) {
  private static final String SCRIPT = "pipewright_profile.py";
  private static final String OWN = "pipewright_profile: "; // before its sentences

  /** With the Python of {@code PIPEWRIGHT_PYTHON}, or else {@code python3}. */
  public static ProfileTool usual(PrintWriter err) {
    @Nullable String named = System.getenv("PIPEWRIGHT_PYTHON");
    return new ProfileTool(named == null || named.isEmpty() ? "python3" : named, err);
  }

  /**
   * Writes a profile.
   *
   * @param network like {@code mine.py:Net}
   * @param flags of the tool
   * @throws BadInputException with the tool's sentence where it refuses
   */
  public void measure(String network, List<String> flags, Path profile) {
    @Nullable Path folder = null;
    try {
      folder = Files.createTempDirectory("pipewright-profile");
      Path script = folder.resolve(SCRIPT);
      try (InputStream carried =
          Objects.requireNonNull(ProfileTool.class.getResourceAsStream(SCRIPT), SCRIPT)) {
        Files.copy(carried, script);
      }
      List<String> command = new ArrayList<>(List.of(python, "-u", script.toString(), network));
      command.addAll(flags);
      command.addAll(List.of("--out", profile.toAbsolutePath().toString()));
      run(network, command);
      Files.delete(script);
    } catch (IOException e) {
      throw new BadInputException(
          "%s: cannot start '%s' to measure it (%s); install Python 3 with PyTorch, or name one in PIPEWRIGHT_PYTHON"
              .formatted(network, python, e.getMessage()));
    } finally {
      if (folder != null) {
        folder.resolve(SCRIPT).toFile().delete();
        folder.toFile().delete();
      }
    }
  }

  private void run(String network, List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      process.getOutputStream().close();
      String last = "";
      try (BufferedReader said = process.inputReader(StandardCharsets.UTF_8)) {
        for (String line = said.readLine(); line != null; line = said.readLine()) {
          if (line.startsWith(OWN)) {
            last = line.substring(OWN.length());
          } else {
            err.println(line);
            err.flush();
          }
        }
      }
      if (process.waitFor() != 0) {
        throw new BadInputException(
            last.isEmpty()
                ? "%s: could not be measured; what Python says is above".formatted(network)
                : last);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BadInputException("%s: was interrupted while it was measured".formatted(network));
    } finally {
      process.destroy();
    }
  }
}
