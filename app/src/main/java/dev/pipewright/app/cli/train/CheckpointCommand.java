package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.execution.CheckpointService;
import dev.pipewright.execution.CheckpointService.ParameterSet;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "checkpoint",
    description =
        "Writes the parameters of a checkpoint into one file that other programs read, or makes a"
            + " checkpoint of such a file, from which `train` starts.",
    footer = {
      "",
      "merge takes a checkpoint of any plan: what stages, tensor parallelism and ZeRO divided is whole",
      "in the file, and a tied table is there once. Names are those of the module tree, so that",
      "load_state_dict of PyTorch takes them. import takes a file with these names, in 32 bits.",
      "",
      "Examples:",
      "  pipewright checkpoint merge run --out net.safetensors",
      "  pipewright checkpoint merge run/checkpoints/step-000020 --out net.safetensors",
      "  pipewright checkpoint import net.safetensors --model gpt-8x256 --out tuned",
      "  pipewright train gpt-8x256 --global-batch 8 --steps 100 --out tuned --resume tuned"
    })
public final class CheckpointCommand implements Callable<Integer> {
  private static final String MERGE = "merge";
  private static final String IMPORT = "import";

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "merge|import",
      description = "Write a file of a checkpoint, or make a checkpoint of a file.")
  private String action = MERGE; // as text: a value that is refused would be read as PATH, too

  @Parameters(
      index = "1",
      paramLabel = "PATH",
      description =
          "merge: a checkpoint, or a folder whose last one counts; import: a file of safetensors.")
  private Path path = Path.of("");

  @Option(
      names = "--model",
      paramLabel = "MODEL",
      description = "import: the network, a name of the zoo or a file.")
  private @Nullable String model;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description = "import: tokens of a sample. Default: the network's usual ones.")
  private @Nullable Integer sequence;

  @Option(
      names = "--out",
      paramLabel = "PATH",
      required = true,
      description = "merge: the file; import: the folder of the run that is to start.")
  private Path out = Path.of("");

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  CheckpointCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    ParameterSet done =
        switch (action) {
          case MERGE -> merge();
          case IMPORT -> start();
          default ->
              throw new BadInputException(
                  "merge|import: '" + action + "' is none of merge, import; give one of these");
        };
    PrintWriter to = spec.commandLine().getOut();
    to.print(json ? json(done) : text(done));
    to.flush();
    spec.commandLine().getErr().println("wrote " + done.written());
    return 0;
  }

  private ParameterSet merge() {
    if (model != null || sequence != null) {
      throw new BadInputException(
          (model != null ? "--model" : "--sequence")
              + ": a checkpoint says its network; leave it out");
    }
    if (!out.toString().endsWith(".safetensors")) {
      throw new BadInputException(
          "--out: " + out + " is the name of no file of safetensors; give FILE.safetensors");
    }
    return service().merge(path.toString(), out.toString());
  }

  private ParameterSet start() {
    if (model == null) {
      throw new BadInputException(
          "--model: missing; name the network that the parameters are of, like gpt-8x256");
    }
    OptionalInt tokens = AtLeast.optional("--sequence", sequence);
    return service().start(path.toString(), model, tokens, out.toString());
  }

  private String text(ParameterSet done) {
    return "%s  %s, %s parameters, %s%n"
        .formatted(
            done.model(),
            Words.count(done.tensors(), "tensor"),
            Units.decimal((double) done.elements(), ""),
            action.equals(MERGE) ? "after step " + done.step() : "before step 1");
  }

  private static String json(ParameterSet done) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("model", done.model());
    answer.put("step", done.step());
    answer.put("tensors", done.tensors());
    answer.put("elements", done.elements());
    answer.put("written", done.written());
    return JsonText.of(answer);
  }

  static CheckpointService service() {
    return RuntimeServices.find(CheckpointService.class, "checkpoint");
  }
}
