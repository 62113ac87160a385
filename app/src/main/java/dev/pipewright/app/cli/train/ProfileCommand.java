package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.execution.ProfilingOutcome;
import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.execution.ProfilingService;
import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.formats.cluster.ClusterYaml;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.formats.profile.ProfilingJson;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "profile",
    description =
        "Measures a network's layers on this machine, and the links between worker processes.",
    footer = {
      "",
      "In the answer: input and weight are parts of backward, the gradients of a layer's input and",
      "weights; spread is the longest forward pass minus the shortest, relative to the median; kept",
      "is what a layer keeps for its backward pass.",
      "",
      "Files in DIR: profile.json, cluster.yaml, links.csv (for `calibrate`), measurements.json and,",
      "with --memory-metrics, peaks.json (for `plan --planner mcap`).",
      "",
      "Examples:",
      "  pipewright profile mlp-8x1024 --out mlp",
      "  pipewright profile gpt-8x256 --batches 1,2,4 --links 2,4 --out gpt",
      "  pipewright plan gpt/profile.json --cluster gpt/cluster.yaml --global-batch 16"
    })
public final class ProfileCommand implements Callable<Integer> {
  private static final String PROFILE = "profile.json";
  private static final String CLUSTER = "cluster.yaml";
  private static final String LINKS = "links.csv";
  private static final String PEAKS = "peaks.json";
  private static final String MEASUREMENTS = "measurements.json";
  private static final int MOST_WORKERS = 64;

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "MODEL",
      description = "A network: a file or a name that `models` lists.")
  private String model = "";

  @Option(
      names = "--batches",
      paramLabel = "N[,N…]",
      split = ",",
      hideParamSyntax = true,
      defaultValue = "1,2,4",
      description = "Sizes of micro-batches to measure, in samples. Default: 1,2,4.")
  private List<Integer> batches = List.of();

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description = "Tokens of a transformer's sample. Default: the network's own.")
  private @Nullable Integer sequence;

  @Option(
      names = "--repeats",
      paramLabel = "N",
      defaultValue = "11",
      description =
          "Repetitions of each measurement, of which the median counts; for whole steps the"
              + " median of the shorter half. Default: ${DEFAULT-VALUE}.")
  private int repeats;

  @Option(
      names = "--workers",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Worker processes that compute at the same time while one of them measures: as many"
              + " as will train on this machine, since they slow each other down. Default:"
              + " ${DEFAULT-VALUE}.")
  private int workers;

  @Mixin private WorkerOptions worker = new WorkerOptions();

  @Option(
      names = "--links",
      paramLabel = "N[,N…]",
      split = ",",
      hideParamSyntax = true,
      defaultValue = "2",
      description =
          "Numbers of worker processes between which links are measured; 0 for none. Default:"
              + " ${DEFAULT-VALUE}.")
  private List<Integer> links = List.of();

  @Option(
      names = "--largest-message",
      paramLabel = "BYTES",
      defaultValue = "67108864",
      description = "Largest message between workers, at least 4 bytes. Default: 67108864.")
  private long largestMessage;

  @Option(
      names = "--memory-metrics",
      arity = "0..1",
      paramLabel = "DEVICES",
      fallbackValue = "3",
      description =
          "Measure what each layer needs alone and adds to others, as mCAP does, with so many"
              + " workers (3 where it is not said) and about a run for each layer.")
  private @Nullable Integer memoryDevices;

  @Option(
      names = "--processor-time",
      description =
          "Measure the worker's processor time instead of wall-clock time, on a machine with"
              + " other load; needs --threads 1.")
  private boolean processorTime;

  @Option(names = "--out", paramLabel = "DIR", description = "Write the files listed below.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  ProfileCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    if (sequence != null) {
      SizeLimits.tokens("--sequence", sequence);
    }
    if (NetworkNames.zooModel(model, tokens()).isEmpty()) {
      NetworkNames.modelFile(model);
    }
    ProfilingRequest request = request();
    try (OutputFolder folder = OutputFolder.of(out, PROFILE, CLUSTER, LINKS, PEAKS, MEASUREMENTS)) {
      return measure(request, folder);
    }
  }

  private int measure(ProfilingRequest request, @Nullable OutputFolder folder) {
    PrintWriter err = spec.commandLine().getErr();
    ProfilingOutcome outcome;
    try {
      outcome =
          SearchDeadline.untilSaid(() ->
              service()
                  .profile(
                      request,
                      words -> {
                        if (!json || Terminal.colours()) {
                          err.println("measuring " + words + " …");
                          err.flush();
                        }
                      }));
    } catch (TrainingFailureException e) {
      err.println("pipewright: " + e.getMessage());
      return Failures.BROKEN;
    }
    if (folder != null) {
      write(folder, outcome);
    }
    PrintWriter to = spec.commandLine().getOut();
    to.print(json ? ProfilingJson.text(outcome) : ProfileText.of(outcome) + files(folder, outcome));
    return 0;
  }

  private static String files(@Nullable OutputFolder folder, ProfilingOutcome outcome) {
    if (folder == null) {
      return "\nnothing is written; --out DIR keeps the profile\n";
    }
    String cluster = outcome.cluster().isPresent() ? folder + "/" + CLUSTER : "CLUSTER";
    return "\nnext: pipewright plan %s/%s --cluster %s --global-batch N\n"
        .formatted(folder, PROFILE, cluster);
  }

  private void write(OutputFolder folder, ProfilingOutcome outcome) {
    folder.write(PROFILE, ProfilingJson.profile(outcome));
    folder.write(MEASUREMENTS, ProfilingJson.text(outcome));
    if (outcome.cluster().isPresent()) {
      String source = "# " + outcome.profile().provenance() + "\n";
      folder.write(CLUSTER, source + ClusterYaml.text(outcome.cluster().get()));
      folder.write(LINKS, ProfilingJson.timings(outcome));
    } else {
      folder.remove(CLUSTER);
      folder.remove(LINKS);
    }
    if (outcome.peaks().isEmpty()) {
      folder.remove(PEAKS);
    } else {
      folder.write(PEAKS, ProfilingJson.peaks(outcome));
    }
  }

  private ProfilingRequest request() {
    List<Integer> sizes = ascending("--batches", batches, 1, SizeLimits.SAMPLES);
    List<Integer> groups =
        links.equals(List.of(0)) ? List.of() : ascending("--links", links, 2, MOST_WORKERS);
    AtLeast.few("--repeats", repeats);
    within("--workers", workers, 1, MOST_WORKERS);
    int threads = worker.threads();
    AtLeast.within("--largest-message", largestMessage, 1024, 1L << 30);
    if (memoryDevices != null) {
      AtLeast.within("--memory-metrics", memoryDevices, 3, MOST_WORKERS);
    }
    if (processorTime && threads > 1) {
      throw new BadInputException(
          "--processor-time: counts one thread, and --threads is %d; leave one of them out"
              .formatted(threads));
    }
    return new ProfilingRequest(
        model,
        tokens(),
        worker.data(),
        sizes,
        repeats,
        workers,
        threads,
        worker.optimizer(TrainedNetwork.usualOptimizer(model)),
        groups,
        largestMessage,
        memoryDevices == null ? OptionalInt.empty() : OptionalInt.of(memoryDevices),
        processorTime,
        command(sizes, groups));
  }

  private OptionalInt tokens() {
    return sequence == null ? OptionalInt.empty() : OptionalInt.of(sequence);
  }

  private String command(List<Integer> sizes, List<Integer> groups) {
    return "pipewright profile %s --batches %s --repeats %d --threads %d --optimizer %s --data %s --links %s"
            .formatted(
                model,
                listed(sizes),
                repeats,
                worker.threads(),
                worker
                    .optimizer(TrainedNetwork.usualOptimizer(model))
                    .name()
                    .toLowerCase(Locale.ROOT),
                worker.data(),
                groups.isEmpty() ? "0" : listed(groups))
        + (sequence == null ? "" : " --sequence " + sequence)
        + (workers == 1 ? "" : " --workers " + workers)
        + (processorTime ? " --processor-time" : "");
  }

  private static String listed(List<Integer> numbers) {
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  private static List<Integer> ascending(String flag, List<Integer> given, int least, int most) {
    if (given.isEmpty()) {
      throw new BadInputException(flag + ": names no number; give some, like 1,2,4");
    }
    for (int number : given) {
      within(flag, number, least, most);
    }
    return new ArrayList<>(new TreeSet<>(given));
  }

  private static void within(String flag, int number, int least, int most) {
    if (number < least || number > most) {
      throw new BadInputException(
          "%s: %d makes no sense; give whole numbers from %d on".formatted(flag, number, least)
              + " up to "
              + most);
    }
  }

  private static ProfilingService service() {
    return RuntimeServices.find(ProfilingService.class, "profile");
  }
}
