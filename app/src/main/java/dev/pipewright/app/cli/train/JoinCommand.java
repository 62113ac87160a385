package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.launch.TlsFlags;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.execution.JoinRequest;
import dev.pipewright.execution.JoiningService;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "join",
    description =
        "Runs workers of a `train --remote-workers N` that was started on another machine.",
    footer = {
      "",
      "The other machine prints the token, which is read from the variable PIPEWRIGHT_TOKEN.",
      "",
      "Example:",
      "  PIPEWRIGHT_TOKEN=… pipewright join trainer-0:7000 --slots 2"
    })
public final class JoinCommand implements Callable<Integer> {
  /** Where the token is read: others cannot see it there, as they could a flag. */
  static final String VARIABLE = "PIPEWRIGHT_TOKEN";

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "HOST:PORT", description = "Address that `train` prints.")
  private String where = "";

  @Option(
      names = "--slots",
      paramLabel = "N",
      defaultValue = "1",
      description = "Largest number of workers on this machine. Default: ${DEFAULT-VALUE}.")
  private int slots;

  @Option(
      names = "--logs",
      paramLabel = "DIR",
      description =
          "A folder for what workers print. Default: a temporary one, which goes with them.")
  private @Nullable Path logs;

  @Mixin private TlsFlags tls = new TlsFlags();

  JoinCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    int colon = where.lastIndexOf(':');
    int port = colon < 1 ? -1 : port(where.substring(colon + 1));
    if (port < 1) {
      throw new BadInputException(where + ": is no address; give HOST:PORT as `train` printed it");
    }
    AtLeast.few("--slots", slots);
    String token = System.getenv(VARIABLE);
    if (token == null || token.isBlank()) {
      throw new BadInputException(
          VARIABLE + " is not set; set it to the token that `train` printed");
    }
    Optional<String> why =
        service()
            .join(
                JoinRequest.once(where.substring(0, colon), port, token.strip(), slots, folder())
                    .with(tls.files()));
    PrintWriter err = spec.commandLine().getErr();
    why.ifPresent(words -> err.println("pipewright: " + words));
    return why.isPresent() ? Failures.BROKEN : 0;
  }

  private static int port(String digits) {
    try {
      int port = Integer.parseInt(digits);
      return port < 1 << 16 ? port : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private Optional<String> folder() {
    return Optional.ofNullable(logs)
        .map(folder -> OutputFile.folder(folder.toAbsolutePath()).toString());
  }

  static JoiningService service() {
    return RuntimeServices.find(JoiningService.class, "join");
  }
}
