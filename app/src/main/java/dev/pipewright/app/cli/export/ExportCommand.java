package dev.pipewright.app.cli.export;

import dev.pipewright.app.cli.given.GivenFile;
import dev.pipewright.app.cli.given.GivenStep;
import dev.pipewright.app.cli.given.PlanArgument;
import dev.pipewright.app.cli.plan.ExportFlags;
import dev.pipewright.app.cli.plan.PlanExporter;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.MoreHelp;
import dev.pipewright.formats.export.ExportCatalog;
import dev.pipewright.formats.export.ExportedFile;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "export",
    description = "Writes a plan as files that other frameworks and launchers run.",
    footer = {
      "",
      "Examples:",
      "  pipewright export result/plan.json --to megatron",
      "  pipewright export result/plan.json --to torch --out launch",
      "  pipewright export result/plan.json --to sbatch --around deepspeed --nearest --out launch",
      "  pipewright export result/plan.json --to torchtitan --torchtitan-version 0.2"
    })
public final class ExportCommand implements Callable<Integer>, MoreHelp {
  @Spec private CommandSpec spec;

  @Mixin private PlanArgument argument = new PlanArgument();

  @Option(
      names = "--to",
      paramLabel = "TARGET",
      completionCandidates = Names.class,
      description = "What to write; the targets are listed below.")
  private @Nullable String to;

  @Mixin private ExportFlags flags = new ExportFlags();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Write the files there instead of printing the one text.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  /** For the completion of shells. */
  static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return ExportCatalog.names().iterator();
    }
  }

  ExportCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public List<String> moreHelp() {
    List<String> lines = new ArrayList<>(List.of("", "Targets:"));
    ExportCatalog.all()
        .forEach(each -> lines.add("  %-11s %s".formatted(each.name(), each.words())));
    return lines;
  }

  @Override
  public Integer call() {
    argument.require(spec);
    if (to == null) {
      throw new BadInputException(
          "--to is missing; take one of " + String.join(", ", ExportCatalog.names()));
    }
    PlanExporter.Outcome outcome = exporter().export("--to", to, flags);
    PrintWriter printer = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    if (outcome.exported().isEmpty()) {
      if (json) {
        printer.print(outcome.json());
      }
      outcome.refusal().ifPresent(sentence -> err.println("pipewright: " + sentence));
      return Failures.NO;
    }
    String[] names = outcome.files().stream().map(ExportedFile::name).toArray(String[]::new);
    try (OutputFolder folder = OutputFolder.of(out, names)) {
      if (json) {
        printer.print(outcome.json());
      } else if (folder == null) {
        printer.print(outcome.text());
      }
      if (folder != null) {
        outcome.files().forEach(file -> folder.write(file.name(), file.text()));
        err.println("wrote " + String.join(", ", names) + " to " + folder);
      }
    }
    outcome.refusal().ifPresent(sentence -> err.println("pipewright: " + sentence));
    outcome.notes().forEach(note -> err.println("pipewright: " + note));
    return 0;
  }

  private PlanExporter exporter() {
    GivenFile plan = GivenFile.of(argument);
    if (plan instanceof GivenStep step) {
      return step.exporter(argument.modelFormat());
    }
    throw new BadInputException(
        argument.file()
            + ": has no training step with priced layers; give a plan of `plan` for a step time");
  }
}
