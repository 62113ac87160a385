package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.Levels;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.app.cli.plan.PlanPictures;
import dev.pipewright.app.cli.plan.PlanProblems;
import dev.pipewright.app.cli.plan.SteadyRun;
import dev.pipewright.cost.AsynchronousCosts;
import dev.pipewright.cost.Misfit;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.SteadyState;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.GivenMemory;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.schedule.FileProblem;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.units.Bytes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** A plan that never flushes, with the prices of its stages. */
public record GivenAsynchronous(Path path, PlanFile<AsynchronousPlan> file, Costed costed)
    implements GivenFile {
  static GivenAsynchronous of(PlanArgument argument, PlanFile<AsynchronousPlan> file) {
    argument.refuseCostModel("never flushes");
    MadeFor madeFor = file.madeFor();
    String model = argument.model(madeFor);
    AsynchronousPlan plan = file.plan();
    argument.agree(madeFor, plan.globalBatch());
    checkPasses(argument.path, plan);
    boolean named = argument.arguments.cluster != null || madeFor.cluster().isPresent();
    if (named || file.levels().isEmpty()) {
      return new GivenAsynchronous(
          argument.path, file, argument.costed(madeFor, plan.globalBatch()));
    }
    argument.takeFrom(madeFor);
    return new GivenAsynchronous(argument.path, file, onLevels(model, argument.arguments, file));
  }

  /** Refuses what a run until the steady state would take too long for. */
  private static void checkPasses(Path path, AsynchronousPlan plan) {
    if (SteadyRun.tooLong(plan)) {
      throw new BadInputException(
          "%s: devices of all stages have had equally many turns only after more micro-batches than can be simulated; take numbers of devices that divide each other, like 4, 2 and 1"
              .formatted(path));
    }
  }

  /** Levels say how fast devices reach each other, and nothing of their memory. */
  private static Costed onLevels(
      String model, ModelArgument arguments, PlanFile<AsynchronousPlan> file) {
    Path path = FileNames.file("the model", model);
    if (model.isEmpty() || !Files.exists(path)) {
      FileNames.requireNoPath("model", model);
      throw new BadInputException(
          "no model file '%s'; give it with --model, or name a cluster with --cluster"
              .formatted(model));
    }
    OptionalInt batch =
        arguments.profileBatch == null
            ? file.madeFor().profileBatch()
            : OptionalInt.of(arguments.profileBatch);
    ModelFile read = ModelFiles.read(path, batch, Optional.ofNullable(arguments.modelFormat));
    long memory =
        arguments.memory == null ? Levels.NO_LIMIT : Amounts.bytes(arguments.memory).value();
    Training training =
        read.training().orElse(new Training(Optimizer.ADAM, read.profile().precision()));
    Workload workload =
        new Workload(
            Chain.of(read.graph()),
            read.profile(),
            training,
            new Levels(file.levels()).cluster(new Bytes(memory)));
    return new Costed(
        model,
        "levels",
        new StageCosts(workload),
        GivenMemory.NONE,
        read.profile().samples().get(0),
        OptionalLong.empty(),
        OptionalInt.empty());
  }

  /** The order of work that is looked at. */
  private Schedule schedule() {
    return file.plan().schedule(SteadyState.rounds(file.plan()));
  }

  @Override
  public Map<String, Object> counted() {
    return Counted.of(schedule());
  }

  @Override
  public List<FileProblem> problems() {
    List<FileProblem> problems = new ArrayList<>();
    for (Validator.Problem problem : Validator.check(schedule())) {
      int stage = problem.at().op().stage();
      problems.add(FileProblem.ofStage(path, stage, "schedule", problem.toString()));
    }
    List<FileProblem> misfits = PlanProblems.misfits(path, file.plan().stages(), costed);
    problems.addAll(misfits);
    if (misfits.isEmpty()) {
      problems.addAll(memory());
    }
    return problems;
  }

  private List<FileProblem> memory() {
    return misfits().stream()
        .map(misfit -> FileProblem.ofStage(path, misfit.stage(), "memory", misfit.toString()))
        .toList();
  }

  List<Misfit> misfits() {
    return new AsynchronousCosts(costed.costs(), file.plan()).misfits();
  }

  @Override
  public List<String> files() {
    return PlanPictures.FILES;
  }

  @Override
  public SimulationResult simulate(SimulationOptions options) {
    PlanProblems.refuseMisfits(path, file.plan().stages(), costed);
    return AsynchronousSimulation.of(this, options);
  }
}
