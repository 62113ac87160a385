package dev.pipewright.app.cli.setup;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "completion",
    description = "Prints a script that makes a shell complete commands and options.",
    footer = {
      "",
      "Examples:",
      "  source <(pipewright completion bash)",
      "  source <(pipewright completion zsh)",
      "  pipewright completion fish > ~/.config/fish/completions/pipewright.fish"
    })
public final class CompletionCommand implements Callable<Integer> {
  private static final List<String> SHELLS = List.of("bash", "zsh", "fish");

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish.")
  private String shell = "";

  CompletionCommand() {
    this.spec = CommandSpec.create(); // until picocli sets the real one
  }

  @Override
  public Integer call() {
    CommandLine program = spec.root().commandLine();
    String script =
        switch (shell) {
          case "bash", "zsh" -> AutoComplete.bash(program.getCommandName(), program); // knows both
          case "fish" -> FishCompletion.of(program);
          default ->
              throw new BadInputException(
                  "SHELL: unknown '%s'; %s".formatted(shell, Suggestion.of(shell, SHELLS)));
        };
    spec.commandLine().getOut().print(script);
    return 0;
  }
}
