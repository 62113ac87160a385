package dev.pipewright.app.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(OS.WINDOWS)
class CompletionCommandTest {
  @TempDir Path folder;

  private Path script(String shell) throws IOException {
    Cli answer = Cli.run("completion", shell).ends(0);
    return Files.writeString(folder.resolve(shell), answer.out());
  }

  private String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, process.waitFor(), said);
    return said;
  }

  /** As bash itself asks: for the words that can follow. */
  @Test
  void bashCompletesCommandsAndOptions() throws Exception {
    String ask =
        "compopt() { :; }; source %s; COMP_WORDS=(pipewright %%s); COMP_CWORD=%%d; _complete_pipewright; printf '%%%%s\\n' \"${COMPREPLY[@]}\""
            .formatted(script("bash"));
    List<String> commands = words(run("bash", "-c", ask.formatted("pr", 1)));
    assertEquals(List.of("predict", "profile"), commands);
    List<String> options = words(run("bash", "-c", ask.formatted("plan --glob", 2)));
    assertEquals(List.of("--global-batch"), options);
  }

  private static List<String> words(String said) {
    return said.lines().map(String::strip).sorted().toList();
  }

  @Test
  void fishAsksForTheSame() throws Exception {
    List<String> lines = Files.readAllLines(script("fish"));
    assertTrue(
        lines.stream().anyMatch(line -> line.contains("__fish_use_subcommand' -f -a 'plan'")));
    assertTrue(
        lines.stream()
            .anyMatch(line ->
                line.contains("__fish_seen_subcommand_from plan' -l 'global-batch' -r -d '")));
    assertTrue(lines.stream().allMatch(line -> line.startsWith("complete -c pipewright ")));
    assumeTrue(Files.exists(Path.of("/usr/bin/fish")), "no fish");
    run("fish", "--no-execute", script("fish").toString());
  }

  @Test
  void otherShellsAreUnknown() {
    Cli.run("completion", "fisch").refusal(2, "SHELL: unknown 'fisch'", "fish");
  }
}
