package dev.pipewright.app.cli.trace;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.timeline.PerfettoTrace;
import dev.pipewright.app.report.timeline.TimelineSvg;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.profile.ProfileJson;
import dev.pipewright.formats.trace.PipelineDump;
import dev.pipewright.formats.trace.TracedRun;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "import",
    description =
        "Reads traces of real runs: what each rank did when, how long it was busy, communicated"
            + " and waited, and a profile of the layers to plan with.",
    footer = {
      "",
      "A trace is what PyTorch's profiler exports, plain or gzipped, one file for each rank, or the",
      "folder that Primus writes for Megatron-LM with --dump_pp_data.",
      "",
      "Examples:",
      "  pipewright import rank-0.json.gz rank-1.json.gz",
      "  pipewright import trace.json --samples 32 --out traced",
      "  pipewright import pp_data --samples 4 --out traced",
      "  pipewright plan traced/profile.json --cluster dgx-a100:2x8 --global-batch 64"
    })
public final class ImportCommand implements Callable<Integer> {
  private static final String PROFILE = "profile.json";
  private static final String COLLECTIVES = "collectives.csv";
  private static final String TIMELINE = "timeline.svg";
  private static final String TRACE = "trace.json";

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "1..*",
      paramLabel = "TRACE",
      description = "Traces of PyTorch's profiler, one for each rank, or one folder of a dump.")
  private List<Path> traces = List.of();

  @Option(
      names = "--samples",
      paramLabel = "N",
      description =
          "Samples that a step of a trace, or a micro-batch of a dump, is for. Default: the first"
              + " extent of the first layer's input, where shapes were recorded; 1 for a dump.")
  private @Nullable Integer samples;

  @Option(
      names = "--whole",
      description = "Take each trace as one step, though the profiler's step() was not called.")
  private boolean whole;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Write timeline.svg, trace.json, profile.json for `plan`, and collectives.csv for"
              + " `calibrate`.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  ImportCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    OptionalInt stated = AtLeast.optional("--samples", samples);
    try (OutputFolder folder = OutputFolder.of(out, PROFILE, COLLECTIVES, TIMELINE, TRACE)) {
      ImportedRun run = read(stated);
      PrintWriter to = spec.commandLine().getOut();
      PrintWriter err = spec.commandLine().getErr();
      to.print(json ? run.json() : run.text(Terminal.columns(), Terminal.colours()));
      to.flush();
      if (folder != null) {
        err.println("wrote " + String.join(", ", write(run, folder)) + " to " + folder);
      }
      if (!json) {
        run.notes().forEach(note -> err.println("pipewright: " + note));
      }
    }
    return 0;
  }

  private ImportedRun read(OptionalInt stated) {
    String source =
        traces.stream()
            .limit(2)
            .map(path -> String.valueOf(path.getFileName()))
            .collect(Collectors.joining(", "));
    source += traces.size() > 2 ? " and " + (traces.size() - 2) + " more" : "";
    for (Path trace : traces) {
      if (!Files.exists(trace)) {
        InputFile.check(trace);
      }
      if (PipelineDump.isDump(trace)) {
        return pipeline(trace, stated, source);
      }
      if (Files.isDirectory(trace)) {
        throw BadInputException.in(
            trace,
            "is a folder without config.json and pp_rank_0.json; give a folder of"
                + " --dump_pp_data, or the files of a profiler");
      }
    }
    return ImportedTraces.of(TracedRun.read(traces, whole), stated, source);
  }

  private ImportedRun pipeline(Path trace, OptionalInt stated, String source) {
    Path folder = Files.isDirectory(trace) ? trace : trace.toAbsolutePath().normalize().getParent();
    boolean others =
        traces.stream().anyMatch(other -> !PipelineDump.isDump(other))
            || (Files.isDirectory(trace) && traces.size() > 1);
    if (others || folder == null) {
      throw new BadInputException("a dump of a pipeline stands for itself; give its folder alone");
    }
    if (whole) {
      throw new BadInputException("--whole: a dump has iterations; leave it out");
    }
    return ImportedPipeline.of(PipelineDump.read(folder), stated, source);
  }

  private static List<String> write(ImportedRun run, OutputFolder folder) {
    List<String> names = new ArrayList<>(List.of(TIMELINE, TRACE));
    folder.write(TIMELINE, TimelineSvg.of("timeline", run.runs()));
    folder.write(
        TRACE, to -> PerfettoTrace.write(run.runs().title(), run.runs().first().timeline(), to));
    run.profile()
        .ifPresent(file -> {
          folder.write(PROFILE, ProfileJson.text(file));
          names.add(PROFILE);
        });
    if (!run.collectives().isEmpty()) {
      folder.write(COLLECTIVES, run.collectivesCsv());
      names.add(COLLECTIVES);
    }
    return names;
  }
}
