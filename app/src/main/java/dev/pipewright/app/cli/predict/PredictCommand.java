package dev.pipewright.app.cli.predict;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.input.Mistakes;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.paradl.ParadlSwitches;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.predict.paradl.BatchScaling;
import dev.pipewright.predict.paradl.ParallelDegrees;
import dev.pipewright.predict.paradl.Setting;
import dev.pipewright.predict.paradl.Setting.Exchange;
import dev.pipewright.predict.paradl.Setting.Formulas;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Studies;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "predict",
    description = "Predicts time, memory and limits of every way to train a network in parallel.",
    footer = {
      "",
      "In the answer:",
      "  communication  time of the iteration that no computation hides",
      "  layout         devices of each kind of parallelism, like 16x4",
      "                 of a transformer: t tensor, c context, p pipeline, d data, e expert, v chunks",
      "                 of each rank, sp sequence parallel",
      "  choice         the fastest strategy that fits, or a simpler one within 1 %%",
      "",
      "Examples:",
      "  pipewright predict resnet-50 --cluster abci --strategies all --devices 16,64,256,1024",
      "  pipewright predict vgg-16 --cluster abci --strategies data,data+filter --devices 64",
      "      --batch-per-device 32 --out vgg",
      "  pipewright predict resnet-50 --cluster abci --strategies filter --devices 4,8,16",
      "      --global-batch 64",
      "  pipewright predict bert-48 --cluster dapple-a --devices 16 --global-batch 64",
      "      --strategies data+tensor+pipeline --recompute auto",
      "  pipewright predict llama3-70b --cluster dgx-h100 --tensor 8 --pipeline 4 --interleave 5",
      "      --sequence-parallel --sequence 8192 --global-batch 256 --tokens 15e12",
      "  pipewright predict RESNET50.net_sc --cluster abci --strategies data --devices 1024",
      "      --formulas published",
      "  pipewright predict megatron-1t --cluster selene --devices 512 --global-batch 512 --search",
      "  pipewright predict --table runs.csv"
    })
public final class PredictCommand implements Callable<Integer>, Mistakes.Checked {
  private static final List<String> FORMULAS = List.of("corrected", "published");

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "MODEL",
      description = "A profile, graph or ParaDL file, or a name (`pipewright models`).")
  private String model = "";

  @Mixin private ModelArgument arguments = new ModelArgument();
  @Mixin private DegreeFlags degrees = new DegreeFlags();
  @Mixin private LayoutFlags layout = new LayoutFlags();
  @Mixin private ScaleFlags scale = new ScaleFlags();
  @Mixin private TableFlag table = new TableFlag();

  @Option(
      names = "--strategies",
      paramLabel = "LIST",
      defaultValue = "all",
      description =
          "all, or some of serial, data, spatial, pipeline, filter, channel, tensor, sequence,"
              + " context, expert, data+filter, data+channel, data+spatial, data+pipeline, data+tensor,"
              + " data+sequence, data+context, data+expert, data+tensor+pipeline, data+sequence+pipeline, zero1, zero2, zero3.")
  private String strategies = "all";

  @Option(
      names = "--samples",
      paramLabel = "N",
      description =
          "Samples of an epoch. Default: those of the network's own data set (ImageNet's 1,281,167"
              + " for images of 1,000 classes); without one, no epochs.")
  private @Nullable Integer samples;

  @Option(
      names = "--formulas",
      paramLabel = "NAME",
      defaultValue = "corrected",
      description = "corrected, or published: ParaDL's Table 3 to the letter.")
  private String formulas = "corrected";

  @Option(
      names = "--group",
      paramLabel = "N",
      description = "Devices that share one network in hybrid strategies; a node's otherwise.")
  private @Nullable Integer group;

  @Option(
      names = "--segments",
      paramLabel = "N",
      description = "Micro-batches of a pipeline; four for each stage otherwise.")
  private @Nullable Integer segments;

  @Option(
      names = "--all-reduce",
      paramLabel = "NAME",
      defaultValue = "usual",
      description =
          "Algorithm of the collectives: ring, tree, hierarchical, cheapest; leader: gradients of"
              + " divided positions through the first device of each group; usual: the cluster's.")
  private String allReduce = "usual";

  @Option(
      names = "--memory-reuse",
      paramLabel = "G",
      description = "A factor on the memory (ParaDL's gamma).")
  private @Nullable String memoryReuse;

  @Option(
      names = "--split-layers",
      paramLabel = "FILE.lc",
      description = "Which layers a strategy may split: ParaDL's lists of 0 and 1.")
  private @Nullable Path splitLayers;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Write report.html, time.svg, memory.svg, scaling.svg, pareto.svg; of a stated layout"
              + " prediction.json, time.svg, memory.svg; of a search search.json, front.svg,"
              + " fastest.svg.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  PredictCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public void check(Mistakes found) {
    if (table.isGiven()) {
      found.of("--table", () -> table.refuseOthers(spec, model));
      return;
    }
    if (model.isEmpty()) {
      found.of("MODEL", this::missing);
    }
    arguments.check(model, found);
    found.of("--cluster", () -> arguments.require());
    found.of("--strategies", this::strategies);
    found.of("--all-reduce", () -> choice("--all-reduce", allReduce, exchanges()));
    found.of("--formulas", () -> choice("--formulas", formulas, FORMULAS));
    found.of("--memory-reuse", this::reuse);
    if (found.sentences().isEmpty()) {
      found.of("--schedule", this::checkDegrees);
    }
  }

  private void checkDegrees() {
    if (layout().isEmpty()) {
      degrees.of();
      table.refuseAlone();
    } else {
      table.constants();
    }
  }

  private Optional<LayoutRequest> layout() {
    return StatedLayout.of(spec, model, arguments, degrees, layout);
  }

  @Override
  public Integer call() {
    if (table.isGiven()) {
      table.refuseOthers(spec, model);
      return table.answer(spec, json);
    }
    if (model.isEmpty()) {
      missing();
    }
    scale.checkBatch();
    Optional<LayoutRequest> stated = layout();
    if (stated.isPresent()) {
      return answer(stated.get());
    }
    table.refuseAlone();
    List<Strategy> asked = strategies();
    Exchange exchange = Exchange.valueOf(choice("--all-reduce", allReduce, exchanges()));
    Formulas which = Formulas.valueOf(choice("--formulas", formulas, FORMULAS));
    Cluster cluster = arguments.cluster(Optional.empty());
    List<Integer> counts = scale.counts(cluster);
    int slice = scale.largestSlice(counts.get(counts.size() - 1));
    Costed costed = arguments.costed(model, Optional.empty(), OptionalInt.empty(), slice);
    if (strategies.equals("all")) {
      asked = Strategy.of(costed.workload().chain().graph(), which == Formulas.PUBLISHED);
    }
    BatchScaling batch = scale.batch(costed.usualSlice());
    try (OutputFolder to = OutputFolder.of(out, StudyAnswer.FILES)) { // before any work
      return answer(asked, exchange, which, counts, costed, batch, to);
    }
  }

  private int answer(LayoutRequest stated) {
    String cluster = String.valueOf(arguments.cluster);
    if (layout.search()) {
      return search(stated, cluster);
    }
    try (OutputFolder to = OutputFolder.of(out, LayoutAnswer.FILES)) { // before any work
      LayoutAnswer answer = new LayoutAnswer(model, cluster, stated.rows(scale, table.constants()));
      spec.commandLine().getOut().print(json ? answer.json() : answer.text());
      if (to != null) {
        answer.write(to);
        wrote(to, LayoutAnswer.FILES);
      }
      return exit(answer.nothingFits());
    }
  }

  private int search(LayoutRequest stated, String cluster) {
    try (OutputFolder to = OutputFolder.of(out, SearchAnswer.FILES)) { // before any work
      SearchRequest request = new SearchRequest(stated, spec.commandLine().getParseResult());
      SearchAnswer answer =
          new SearchAnswer(model, cluster, request.searches(scale, table.constants()));
      spec.commandLine().getOut().print(json ? answer.json() : answer.text());
      if (to != null) {
        answer.write(to);
        wrote(to, SearchAnswer.FILES);
      }
      return exit(answer.nothingFits());
    }
  }

  private void wrote(OutputFolder to, String[] files) {
    spec.commandLine().getErr().println("wrote " + String.join(", ", files) + " to " + to);
  }

  /** 0, or what it is where nothing fits, for this reason. */
  private int exit(Optional<String> nothingFits) {
    nothingFits.ifPresent(why -> spec.commandLine().getErr().println("pipewright: " + why));
    return nothingFits.isPresent() ? Failures.NO : 0;
  }

  private void missing() {
    throw new BadInputException(
        "MODEL is missing; write `%s MODEL` or give a --table".formatted(spec.qualifiedName()));
  }

  private int answer(
      List<Strategy> asked,
      Exchange exchange,
      Formulas which,
      List<Integer> counts,
      Costed costed,
      BatchScaling batch,
      @Nullable OutputFolder to) {
    Setting setting =
        new Setting(
            costed.workload(),
            epoch(costed),
            which,
            exchange,
            AtLeast.optional("--group", group),
            AtLeast.optional("--segments", segments),
            reuse(),
            switches(costed),
            degrees.of());
    Study study = Studies.of(setting, asked, counts, batch);
    StudyAnswer answer =
        new StudyAnswer(study, costed, question(batch, setting), arguments.flags());
    if (json) {
      spec.commandLine().getOut().print(answer.json());
    } else {
      answer.print(spec.commandLine().getOut());
    }
    if (to != null) {
      answer.write(to);
      wrote(to, StudyAnswer.FILES);
    }
    return exit(answer.nothingFits());
  }

  private static List<String> exchanges() {
    return Arrays.stream(Exchange.values()).map(e -> e.name().toLowerCase(Locale.ROOT)).toList();
  }

  private static String choice(String option, String word, List<String> known) {
    if (!known.contains(word)) {
      throw new BadInputException(
          option + ": unknown '" + word + "'; " + Suggestion.of(word, known));
    }
    return word.toUpperCase(Locale.ROOT);
  }

  private List<Strategy> strategies() {
    if (strategies.equals("all")) {
      return List.of(Strategy.values());
    }
    List<Strategy> found = new ArrayList<>();
    for (String word : strategies.split(",", -1)) {
      List<String> known = new ArrayList<>(Strategy.labels());
      known.add("all");
      Strategy strategy =
          Strategy.find(word.strip())
              .orElseThrow(() ->
                  new BadInputException(
                      "--strategies: unknown '"
                          + word.strip()
                          + "'; "
                          + Suggestion.of(word.strip(), known)));
      if (!found.contains(strategy)) {
        found.add(strategy);
      }
    }
    return found;
  }

  private static String question(BatchScaling batch, Setting setting) {
    return String.format(
        Locale.ROOT,
        "%,d samples per iteration%s%s, %s formulas%s",
        batch.samples(),
        batch.perDevice() ? " and device" : " over all devices",
        setting.samplesPerEpoch().isPresent()
            ? String.format(Locale.ROOT, ", %,d per epoch", setting.samplesPerEpoch().getAsLong())
            : "",
        setting.formulas().name().toLowerCase(Locale.ROOT),
        setting.degrees().schedule().equals(ParallelDegrees.OPEN.schedule())
            ? ""
            : ", pipelines run " + setting.degrees().schedule().name());
  }

  private OptionalLong epoch(Costed costed) {
    return samples == null
        ? costed.samplesPerEpoch()
        : OptionalLong.of(AtLeast.one("--samples", samples));
  }

  private Optional<List<Boolean>> switches(Costed costed) {
    if (splitLayers == null) {
      return Optional.empty();
    }
    List<Boolean> switches = new ArrayList<>();
    for (boolean on : ParadlSwitches.read(splitLayers, costed.workload().chain().graph())) {
      switches.add(on);
    }
    return Optional.of(switches);
  }

  private OptionalDouble reuse() {
    if (memoryReuse == null) {
      return OptionalDouble.empty();
    }
    double factor = Amounts.decimal(memoryReuse);
    if (!Range.FACTOR.positive(factor)) {
      throw new BadInputException(
          "--memory-reuse: '%s' is no factor; give a number from %s, like 0.5"
              .formatted(memoryReuse, Range.FACTOR));
    }
    return OptionalDouble.of(factor);
  }
}
