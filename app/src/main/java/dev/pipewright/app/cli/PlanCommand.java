package dev.pipewright.app.cli;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.planner.DapplePlanner;
import dev.pipewright.planner.Evaluation;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Remedy;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Recomputation;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.schedule.WarmUp;
import dev.pipewright.sim.SimulatedOracle;
import dev.pipewright.units.Units;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "plan",
    description = "Finds the best way to split a network over a cluster.",
    footer = {
      "",
      "Examples:",
      "  pipewright plan bert-48 --cluster dapple-a --global-batch 64",
      "  pipewright plan profile.txt --profile-batch 32 --cluster mine.yaml --global-batch 1024 --out result",
      "  pipewright plan vgg-19 --cluster dapple-c --global-batch 2048 --planner straight",
      "  pipewright plan bert-48 --cluster dapple-a --global-batch 64 --evaluate other.json --json"
    })
final class PlanCommand implements Callable<Integer> {
  private static final List<String> PLANNERS =
      List.of("auto", "dapple", "data", "straight", "gpipe");
  private static final List<String> SCHEDULES = List.of("1f1b", "1f1b-b", "gpipe");
  static final List<String> COST_MODELS =
      List.of("pipewright", "dapple", "dapple-published", "dapple-repo");
  private static final List<String> RECOMPUTE =
      List.of("auto", "none", "selective", "stage-input", "full");

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "MODEL",
      description = "A profile or graph file, or a name (`pipewright models`).")
  private String model = "";

  @Mixin private ModelArgument arguments = new ModelArgument();

  @Option(
      names = "--global-batch",
      paramLabel = "N",
      required = true,
      description = "Samples per training step.")
  private int globalBatch;

  @Option(
      names = "--micro-batch",
      paramLabel = "N",
      description = "Samples of a micro-batch; every size that divides is tried otherwise.")
  private @Nullable Integer microBatch;

  @Option(
      names = "--planner",
      paramLabel = "NAME",
      defaultValue = "auto",
      description = "auto, dapple, data (parallelism only), straight (pipeline only), gpipe.")
  private String planner = "auto";

  @Option(
      names = "--cost-model",
      paramLabel = "NAME",
      defaultValue = "pipewright",
      description = "pipewright, dapple, dapple-published, dapple-repo.")
  private String costModel = "pipewright";

  @Option(
      names = "--schedule",
      paramLabel = "NAME",
      description = "1f1b, 1f1b-b or gpipe; the better of the first two otherwise.")
  private @Nullable String schedule;

  @Option(
      names = "--recompute",
      paramLabel = "MODE",
      defaultValue = "auto",
      description =
          "auto and selective (what memory demands), none, stage-input and full (all layers).")
  private String recompute = "auto";

  @Option(
      names = "--evaluate",
      paramLabel = "PLAN.json",
      description = "Score this plan instead of searching.")
  private @Nullable Path evaluate;

  @Option(
      names = "--time-limit",
      paramLabel = "S",
      description = "Seconds after which the search ends with the best so far, as Ctrl-C does.")
  private @Nullable String timeLimit;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Write plan.json, report.html, timeline.svg and trace.json.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  PlanCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    Request request = request();
    ModelArgument.Costed costed =
        arguments.costed(model, Optional.empty(), OptionalInt.empty(), globalBatch);
    if (evaluate == null) {
      Limits.devices(costed.workload().cluster());
    }
    if (out != null) {
      OutputFolder.of(out, Answer.FILES); // before any work
    }
    StageCosts costs = costed.costs();
    Planning planning;
    long start = System.nanoTime();
    try (Patience patience = new Patience(Patience.limit(timeLimit))) {
      planning =
          evaluate == null
              ? DapplePlanner.plan(costs, request, decider(costs), patience)
              : evaluated(costed, request);
      if (patience.ended()) {
        spec.commandLine().getErr().println("pipewright: " + unfinished(planning));
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    OptionalInt batch =
        arguments.profileBatch == null
            ? OptionalInt.empty()
            : OptionalInt.of(arguments.profileBatch);
    Answer answer = new Answer(planning, costed, seconds, batch);
    if (json) {
      spec.commandLine().getOut().print(answer.json());
    }
    if (planning.best().isEmpty()) {
      String reason = Remedy.sentence(costs, request);
      spec.commandLine().getErr().println("pipewright: nothing fits: " + reason);
      return Failures.NO;
    }
    if (!json) {
      answer.print(spec.commandLine().getOut());
    }
    if (out != null) {
      answer.write(out);
      spec.commandLine()
          .getErr()
          .println("wrote " + String.join(", ", Answer.FILES) + " to " + out);
    }
    Optional<String> tooLarge =
        request.costModel() == CostModel.DAPPLE_REPO ? Optional.empty() : answer.doesNotFit();
    tooLarge.ifPresent(
        reason -> spec.commandLine().getErr().println("pipewright: does not fit: " + reason));
    return tooLarge.isPresent() ? Failures.NO : 0;
  }

  private static String unfinished(Planning planning) {
    String gap =
        planning
            .best()
            .map(best -> best.seconds() / planning.lowerBound().seconds() - 1)
            .filter(Double::isFinite)
            .map(above ->
                "the best so far is "
                    + Units.percent(above)
                    + " above the lower bound ("
                    + planning.lowerBound().why()
                    + ")")
            .orElse("nothing was found so far");
    return "the search was ended early; " + gap;
  }

  /** The simulator, on the stage times of the default cost model. */
  private static Oracle decider(StageCosts costs) {
    return new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
  }

  private Planning evaluated(ModelArgument.Costed costed, Request request) {
    Path path = java.util.Objects.requireNonNull(evaluate);
    PlanFile file = PlanJson.read(path);
    Limits.passes(path.toString(), file.plan());
    if (file.plan().globalBatch() != globalBatch) {
      throw new BadInputException(
          path
              + ": the plan processes "
              + file.plan().globalBatch()
              + " samples per step; give"
              + " --global-batch "
              + file.plan().globalBatch()
              + " or change the plan");
    }
    for (String problem : PlanFit.problems(file.plan(), costed)) {
      throw new BadInputException(path + ": " + problem);
    }
    StageCosts costs = costed.costs();
    Oracle simulator = new SimulatedOracle(request.costModel().oracle(costs));
    try {
      return Evaluation.of(costs, file.plan(), request.costModel(), simulator);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(path + ": " + e.getMessage());
    }
  }

  private Request request() {
    if (globalBatch < 1) {
      throw new BadInputException(
          "--global-batch: " + globalBatch + " is no batch; give a whole number >= 1");
    }
    Limits.samples("--global-batch", globalBatch);
    int micro = microBatch == null ? 1 : microBatch;
    if (micro < 1) {
      throw new BadInputException(
          "--micro-batch: " + micro + " is no batch; give a whole number >= 1");
    }
    if (globalBatch % micro != 0) {
      throw new BadInputException(
          "--micro-batch: "
              + micro
              + " does not divide the global batch "
              + globalBatch
              + "; give a divisor, like "
              + nearestDivisor(globalBatch, micro));
    }
    String known = choice("--planner", planner, PLANNERS);
    CostModel costs =
        CostModel.find(costModel)
            .orElseThrow(() ->
                new BadInputException(
                    "--cost-model: unknown '"
                        + costModel
                        + "'; "
                        + Suggestion.of(costModel, COST_MODELS)));
    if (costs == CostModel.DAPPLE_PUBLISHED && evaluate == null) {
      throw new BadInputException(
          "--cost-model: dapple-published only scores plans; add --evaluate PLAN.json or plan with"
              + " dapple, its correction");
    }
    return new Request(
        globalBatch,
        microBatch == null && costs != CostModel.DAPPLE_REPO
            ? OptionalInt.empty()
            : OptionalInt.of(micro),
        policies(known),
        recomputation(costs),
        costs,
        switch (known) {
          case "data" -> Shape.DATA_PARALLEL;
          case "straight" -> Shape.STRAIGHT;
          default -> Shape.ANY;
        });
  }

  private List<WarmUp> policies(String planner) {
    if (schedule == null) {
      return planner.equals("gpipe") ? List.of(WarmUp.ALL) : List.of(WarmUp.A, WarmUp.B);
    }
    String name = choice("--schedule", schedule, SCHEDULES);
    if (planner.equals("gpipe") && !name.equals("gpipe")) {
      throw new BadInputException(
          "--schedule: " + name + " contradicts --planner gpipe; leave out one of them");
    }
    for (WarmUp policy : WarmUp.values()) {
      if (policy.schedule().equals(name)) {
        return List.of(policy);
      }
    }
    throw new IllegalStateException("no policy for schedule " + name);
  }

  /** Other cost models score what their papers know. */
  private Recomputation recomputation(CostModel cost) {
    return switch (choice("--recompute", recompute, RECOMPUTE)) {
      case "none" -> Recomputation.NEVER;
      case "stage-input", "full" -> Recomputation.ALWAYS;
      case "auto" ->
          cost == CostModel.PIPEWRIGHT ? Recomputation.SELECTIVE : Recomputation.WHERE_NEEDED;
      default -> Recomputation.SELECTIVE;
    };
  }

  private static String choice(String option, String word, List<String> words) {
    if (!words.contains(word)) {
      throw new BadInputException(
          option + ": unknown '" + word + "'; " + Suggestion.of(word, words));
    }
    return word;
  }

  private static int nearestDivisor(int number, int wanted) {
    int best = 1;
    for (int i = 1; i <= number; i++) {
      if (number % i == 0 && Math.abs(i - wanted) < Math.abs(best - wanted)) {
        best = i;
      }
    }
    return best;
  }
}
