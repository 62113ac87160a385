package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.launch.LaunchedRank;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.execution.JoinRequest;
import dev.pipewright.execution.LossWatch;
import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Device;
import dev.pipewright.execution.TrainingRequest.Machines;
import dev.pipewright.execution.TrainingService;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.formats.answer.TrainingJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.predict.run.RunPrediction;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "train",
    description = "Trains a network with several workers, following a plan or the flags.",
    footer = {
      "",
      "Examples:",
      "  pipewright train mlp-8x1024 --global-batch 64 --steps 50",
      "  pipewright train cnn-64-128-256 --replicas 2 --global-batch 32 --data cifar10:DIR",
      "  pipewright train cnn-64-128-256 --spatial-parallel 2 --replicas 2 --global-batch 32",
      "  pipewright train gpt-8x256 --replicas 2 --zero 3 --global-batch 8",
      "  pipewright train gpt-8x256 --stages 2 --schedule zb-h1 --micro-batches 8 --global-batch 16",
      "  pipewright train mlp-8x1024 --stages 4 --schedule pipedream-2bw --global-batch 64",
      "  pipewright train PLAN.json --steps 100 --out run --checkpoint-every 20",
      "  pipewright train PLAN.json --steps 200 --out run --checkpoint-every 20 --resume run",
      "  pipewright train PLAN.json --emulate --stretch 10",
      "  pipewright train PLAN.json --remote-workers 4 --port 7000   (and `join` on other machines)",
      "  srun pipewright train PLAN.json --launcher env   (one rank per node, from a batch script)",
      "  pipewright train PLAN.json --out run --checkpoint-every 20 --max-restarts 3",
      "",
      "Ctrl-C, or SIGTERM, ends it after the step that is running, with a checkpoint where these are",
      "kept; asynchronous schedules go on to the next evaluation or checkpoint. What has",
      "not ended after 3.5 s is killed. Exit status: 130 after Ctrl-C, 143 after SIGTERM."
    })
public final class TrainCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private TrainArgument what = new TrainArgument();

  @Mixin private PredictionArgument expected = new PredictionArgument();

  @Mixin private RunOptions run = new RunOptions();

  @Option(
      names = "--steps",
      paramLabel = "N",
      defaultValue = "20",
      description = "Steps to train: global batches. Default: ${DEFAULT-VALUE}.")
  private int steps;

  @Option(
      names = "--learning-rate",
      paramLabel = "X",
      description =
          "Learning rate. Default: 0.01, or 0.001 with adam; networks without normalisation and"
              + " transformers wider than 512 take 0.001, or 0.0003 with adam; with momentum,"
              + " 0.0001 for more than 8 convolutions without normalisation.")
  private @Nullable Double rate;

  @Option(
      names = "--momentum",
      paramLabel = "X",
      description = "Momentum of the optimizer. Default: 0.9.")
  private @Nullable Double momentum;

  @Option(
      names = "--weight-decay",
      paramLabel = "X",
      defaultValue = "0",
      description = "Weight decay. Default: ${DEFAULT-VALUE}.")
  private double decay;

  /** What batch normalisation averages over. */
  enum Statistics {
    LOCAL,
    SHARED
  }

  @Option(
      names = "--batch-norm",
      paramLabel = "KIND",
      defaultValue = "local",
      description =
          "local: each worker averages over its own samples; shared: over those of all workers"
              + " that hold the micro-batch. Default: ${DEFAULT-VALUE}.")
  private Statistics batchNorm = Statistics.LOCAL;

  @Mixin private TrainKeeping keeping = new TrainKeeping();

  @Mixin private TrainMachines machines = new TrainMachines();

  @Option(names = "--force", description = "Start although memory will probably run out.")
  private boolean force;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  TrainCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    Optional<LaunchedRank> launched = machines.launcher.rank(System.getenv());
    machines.checkCertificates(launched);
    PlannedRanks ranks =
        machines.planned(what.chosen(), launched, Optional.ofNullable(keeping.out));
    TrainArgument.Chosen chosen = ranks.chosen();
    TrainingRequest request = request(chosen, launched);
    PrintWriter err = spec.commandLine().getErr();
    if (launched.isPresent() && !launched.get().coordinates()) {
      return follow(launched.get(), request, err);
    }
    int restarts = restarts(request);
    launched.ifPresent(rank -> sayRanks(rank, ranks, err));
    Optional<RunPrediction> runPrediction =
        expected.maybe(chosen, request.learning().rule().kind());
    double step = runPrediction.map(RunPrediction::predictedStepSeconds).orElse(0.0);
    request = request.on(request.execution().machines().after(step));
    if (expected.emulate) {
      request = request.emulating(runPrediction.orElseThrow().layers());
    }
    LossWatch watch = new LossWatch(request.learning().rule().rate());
    TrainingOutcome outcome;
    try (SearchDeadline patience = new SearchDeadline(OptionalDouble.empty(), secondsToStop())) {
      outcome =
          new RestartedTraining(
                  service("train"),
                  launched.map(LaunchedRank::worldSize).orElse(1),
                  restarts,
                  ranks.replanning(),
                  err)
              .train(request, new TrainProgress(err, !json, steps, watch, patience));
    } catch (TrainingFailureException e) {
      err.println("pipewright: " + e.getMessage());
      return Failures.BROKEN;
    }
    PrintWriter to = spec.commandLine().getOut();
    if (json) {
      to.print(TrainingJson.text(request, outcome, runPrediction));
    } else {
      to.print(TrainingText.of(request, outcome));
    }
    if (!outcome.stopped()) {
      return 0;
    }
    to.flush();
    long done = outcome.steps().getLast().step() + 1;
    err.println(
        "pipewright: "
            + TrainingOutcome.interrupted(done, request.learning().steps(), outcome.checkpoint()));
    return launched.isPresent() && outcome.checkpoint().isPresent()
        ? Failures.REQUEUE
        : Failures.INTERRUPTED;
  }

  private int restarts(TrainingRequest request) {
    return machines.restarts.most(
        request.keeping(), request.execution().workers(), machines.joined());
  }

  private int secondsToStop() {
    double more = SearchDeadline.SECONDS_TO_STOP - Machines.USUAL_GRACE.value();
    return (int) Math.ceil(machines.launcher.grace().value() + more);
  }

  /**
   * What a launcher has to know of a run.
   *
   * @param resumable the folder of its checkpoints, where it writes any
   * @param cuda whether each worker computes with a GPU
   * @param plan that it follows, where that is a file
   * @param replanned throws where it cannot be planned anew for fewer than so many nodes
   */
  record Planned(
      String model,
      int workers,
      int threads,
      Optional<String> resumable,
      boolean cuda,
      Optional<TrainingStages> plan,
      IntConsumer replanned) {}

  /** Reads what is to be trained, and throws as a run would; trains nothing. */
  Planned planned() {
    TrainArgument.Chosen chosen = what.chosen();
    TrainingRequest request = request(chosen, Optional.empty());
    return new Planned(
        request.model(),
        request.assignment().size(),
        request.execution().computing().threads(),
        request.keeping().checkpointEvery() > 0
            ? Optional.ofNullable(keeping.out).map(Path::toString)
            : Optional.empty(),
        request.execution().computing().device() == Device.CUDA,
        chosen.plan(),
        nodes -> Replanning.of(chosen, nodes));
  }

  private void sayRanks(LaunchedRank rank, PlannedRanks ranks, PrintWriter err) {
    if (ranks.anew()) {
      err.printf(
          "pipewright: %s starts fewer ranks than the plan needs; it goes on with another plan, %s%n",
          rank.launcher(), Replanning.words(ranks.chosen()));
    }
    if (!json && rank.worldSize() > 1) {
      err.printf(
          "rank 0 of %d by %s: the others join at %s%n",
          rank.worldSize(), rank.launcher(), rank.coordinator());
      err.flush();
    }
  }

  /** What a rank other than 0 does: it runs its workers, and rank 0 says how training goes. */
  private int follow(LaunchedRank rank, TrainingRequest request, PrintWriter err) {
    Optional<String> logs =
        request.keeping().folder().map(folder -> Path.of(folder).resolve("logs").toString());
    Machines asked = request.execution().machines();
    JoinRequest join =
        machines
            .launcher
            .join(
                rank,
                asked.rendezvous().orElseThrow().again(restarts(request) > 0),
                rank.workersOf(request.assignment().size()),
                logs,
                machines.restarts.returning(asked))
            .with(asked.certificates());
    Optional<String> why = // an interrupt ends it as rank 0 says
        SearchDeadline.untilSaid(1 + secondsToStop(), () -> JoinCommand.service().join(join));
    why.ifPresent(words -> err.println("pipewright: rank %d: %s".formatted(rank.rank(), words)));
    return why.isPresent() ? Failures.BROKEN : 0;
  }

  private void checkRule() {
    if (rate != null && !(rate > 0)) {
      throw new BadInputException(
          "--learning-rate: " + rate + " is no length of a step; give a number above 0, like 0.01");
    }
    if (momentum != null && !(momentum >= 0 && momentum < 1)) {
      throw new BadInputException(
          "--momentum: " + momentum + " is no share below 1; give a number from 0 on, like 0.9");
    }
    if (!(decay >= 0)) {
      throw new BadInputException(
          "--weight-decay: " + decay + " is negative; give a number from 0 on, like 1e-4");
    }
  }

  private TrainingRequest request(TrainArgument.Chosen chosen, Optional<LaunchedRank> launched) {
    checkRule();
    UpdateRule usual = chosen.usualRule(run.worker.optimizer(chosen.usualOptimizer()));
    UpdateRule rule;
    try {
      rule =
          new UpdateRule(
              usual.kind(),
              rate == null ? usual.rate() : rate,
              momentum == null ? usual.momentum() : momentum,
              decay);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(e.getMessage() + "; give another");
    }
    return new TrainingRequest(
        chosen.model(),
        chosen.sequence(),
        chosen.assignment(),
        new TrainingRequest.Learning(
            rule,
            batchNorm == Statistics.SHARED,
            run.worker.data(),
            AtLeast.one("--steps", steps),
            run.seed,
            keeping.evaluateEvery()),
        new TrainingRequest.Execution(
            run.workers,
            run.computing(),
            machines.machines(chosen.assignment().size(), run.workers, launched),
            force,
            Optional.empty()),
        keeping.keeping());
  }

  /** What trains, for a command. */
  static TrainingService service(String command) {
    return RuntimeServices.find(TrainingService.class, command);
  }
}
