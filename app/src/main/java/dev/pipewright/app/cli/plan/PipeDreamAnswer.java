package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.Levels;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.plan.AsynchronousSheet;
import dev.pipewright.app.report.plan.PlanSheet;
import dev.pipewright.cost.AsynchronousCosts;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PipeDreamJson;
import dev.pipewright.formats.SteadyFigures;
import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import dev.pipewright.planner.pipedream.CutCosts;
import dev.pipewright.planner.pipedream.PipeDreamOptimizer;
import dev.pipewright.planner.pipedream.PipeDreamPlanning;
import dev.pipewright.planner.pipedream.RecomputedStages;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.units.Bytes;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A plan of PipeDream's optimizer, shown in the forms that {@code plan} offers. */
public final class PipeDreamAnswer implements PlannerAnswer {
  private final PipeDreamPlanning planning;
  private final PipeDreamJson.Context context;
  private final StageCosts costs;
  private final AsynchronousPlan plan;
  private final Optional<SteadyFigures> steady;

  private PipeDreamAnswer(
      PipeDreamPlanning planning, PipeDreamJson.Context context, StageCosts costs) {
    this.planning = planning;
    this.context = context;
    this.costs = costs;
    this.plan = RecomputedStages.where(costs, kept(planning, context));
    this.steady = SteadyRun.of(plan, costs, planning.seconds());
  }

  /**
   * Plans for {@code --levels}, which describe no device: the model is a file, and its times are
   * taken as they stand, for whole mini-batches.
   *
   * @param arguments for {@code --profile-batch} and {@code --model-format}
   * @param stop asked now and then whether to finish with what there is
   */
  public static PipeDreamAnswer ofFile(
      String model,
      ModelArgument arguments,
      SynchronousFlags flags,
      Levels levels,
      boolean chargeTransfers,
      BooleanSupplier stop) {
    Path path = FileNames.file("the model", model);
    if (model.isEmpty() || !Files.exists(path)) {
      FileNames.requireNoPath("model", model);
      throw new BadInputException(
          "no model file '"
              + model
              + "'; give a file with measured times, since --levels says nothing of the devices, or"
              + " plan with --cluster");
    }
    OptionalInt given = arguments.profileBatch();
    ModelFile file =
        ModelFiles.read(
            path, OptionalInt.of(given.orElse(1)), Optional.ofNullable(arguments.modelFormat));
    int samples = file.profile().samples().get(0);
    OptionalInt miniBatch =
        given.isEmpty() && samples == 1 ? OptionalInt.empty() : OptionalInt.of(samples);
    MadeFor madeFor = MadeFor.levels(model, OptionalInt.of(given.orElse(1)));
    OptionalInt stages =
        flags.stages(
            model,
            () -> Chain.of(file.graph()).mostStages(),
            "--levels",
            levels.levels().stream()
                .mapToInt(BandwidthLevel::units)
                .reduce(1, Math::multiplyExact));
    StageCosts costs =
        new StageCosts(
            new Workload(
                Chain.of(file.graph()),
                file.profile(),
                file.training().orElse(new Training(Optimizer.ADAM, file.profile().precision())),
                levels.cluster(new Bytes(Levels.NO_LIMIT))));
    return of(madeFor, costs, miniBatch, levels, chargeTransfers, stages, stop);
  }

  /**
   * Plans for a profiled model.
   *
   * @param madeFor model and cluster as the user named them
   * @param miniBatch samples that each stage takes at once; what the profile was measured for when
   *     empty
   * @param stages exactly so many; any number otherwise
   */
  static PipeDreamAnswer of(
      MadeFor madeFor,
      StageCosts known,
      OptionalInt miniBatch,
      Levels levels,
      boolean chargeTransfers,
      OptionalInt stages,
      BooleanSupplier stop) {
    String model = madeFor.model().orElse("the model");
    Chain chain = known.workload().chain();
    LayerGraph graph = chain.graph();
    Profile profile = known.workload().profile();
    if (levels.levels().size() > 1 && graph.size() > PipeDreamOptimizer.MOST_PLACES) {
      throw tooLong(model, "%d layers".formatted(graph.size()));
    }
    if (levels.levels().size() > 1 && chain.size() > PipeDreamOptimizer.MOST_PLACES) {
      throw tooLong(model, "%d places to cut".formatted(chain.size()));
    }
    long start = System.nanoTime();
    int samples = miniBatch.orElse(profile.samples().get(0));
    double[] forward = profile.seconds(Quantity.FORWARD, samples);
    double[] seconds = profile.seconds(Quantity.BACKWARD, samples);
    double[] outputs = profile.outputBytes();
    for (int layer = 0; layer < seconds.length; layer++) {
      seconds[layer] += forward[layer];
      outputs[layer] *= samples;
    }
    CutCosts costs = CutCosts.of(chain, seconds, profile.parameterBytes(), outputs);
    PipeDreamPlanning planning = planned(costs, levels, chargeTransfers, stages, stop);
    double planningSeconds = (System.nanoTime() - start) / 1e9;
    return new PipeDreamAnswer(
        planning,
        new PipeDreamJson.Context(
            madeFor,
            profile.provenance().toString(),
            levels.levels(),
            chargeTransfers,
            miniBatch,
            Arrays.stream(chain.cumulative(forward)).boxed().toList(),
            planningSeconds),
        known);
  }

  private static PipeDreamPlanning planned(
      CutCosts costs,
      Levels levels,
      boolean chargeTransfers,
      OptionalInt stages,
      BooleanSupplier stop) {
    if (stages.isEmpty()) {
      return PipeDreamOptimizer.plan(costs, levels.levels(), chargeTransfers, stop);
    }
    int count = stages.getAsInt();
    return PipeDreamOptimizer.plan(costs, levels.levels(), chargeTransfers, count, stop)
        .orElseThrow(() ->
            new BadInputException(
                "--stages: no pipeline of %d was found before the search was ended; give it more time, or ask for fewer stages"
                    .formatted(count)));
  }

  /** Empty where nothing says how many samples a mini-batch has. */
  @Override
  public Optional<TrainingFigures> figures() {
    if (context.miniBatch().isEmpty()) {
      return Optional.empty();
    }
    int samples = context.miniBatch().getAsInt();
    return Optional.of(
        TrainingFigures.of(
            costs.workload(),
            samples,
            List.of(samples),
            steady.map(SteadyFigures::seconds).orElseGet(planning::seconds),
            plan.stages().stream().mapToInt(StagePlan::replicas).sum()));
  }

  /** The plan as it runs. */
  AsynchronousPlan plan() {
    return plan;
  }

  /** The figures of its steady state, where it could be simulated. */
  Optional<SteadyFigures> steady() {
    return steady;
  }

  /** One device doing everything, its update included. */
  private double oneDeviceSeconds() {
    double[] update = costs.updateSeconds();
    return planning.singleDeviceSeconds() + update[update.length - 1];
  }

  private static AsynchronousPlan kept(PipeDreamPlanning planning, PipeDreamJson.Context context) {
    List<StagePlan> stages =
        planning.stages().stream()
            .map(s ->
                new StagePlan(
                    s.firstLayer(), s.lastLayer(), s.devices(), Recompute.NONE, s.inFlight()))
            .toList();
    return new AsynchronousPlan(
        Rule.PIPEDREAM, planning.inFlight(), context.miniBatch().orElse(1), 1, stages);
  }

  private List<Recompute> recompute() {
    return plan().stages().stream().map(StagePlan::recompute).toList();
  }

  /** The first stage that is too large for its devices, where these are known. */
  Optional<String> doesNotFit() {
    List<StageMemory> memory = new AsynchronousCosts(costs, plan).memory();
    for (int stage = 0; stage < memory.size(); stage++) {
      if (!memory.get(stage).fits()) {
        return Optional.of(AsynchronousCheck.tooLarge(plan, stage, memory.get(stage)));
      }
    }
    return Optional.empty();
  }

  /** PipeDream's optimizer knows no memory, so its plans are not held against it. */
  @Override
  public List<String> remarks() {
    List<String> remarks = new ArrayList<>();
    List<Integer> again =
        IntStream.range(0, recompute().size())
            .filter(stage -> recompute().get(stage) != Recompute.NONE)
            .boxed()
            .toList();
    if (!again.isEmpty()) {
      remarks.add(
          "stages %s fit only since they compute their layers again, which the objective does not count"
              .formatted(again));
    }
    doesNotFit()
        .ifPresent(stage ->
            remarks.add("does not fit, since pipedream plans without regard to memory: " + stage));
    return remarks;
  }

  private static BadInputException tooLong(String model, String size) {
    return new BadInputException(
        "%s: has %s, more than several levels allow; merge layers to at most %d or give one level"
            .formatted(model, size, PipeDreamOptimizer.MOST_PLACES));
  }

  @Override
  public String json() {
    return json(context);
  }

  private String json(PipeDreamJson.Context shown) {
    return PipeDreamJson.text(
        planning,
        shown,
        plan.stages(),
        new AsynchronousCosts(costs, plan).memory(),
        steady,
        oneDeviceSeconds());
  }

  @Override
  public void print(PrintWriter out) {
    out.print(sheet().text(Terminal.columns(), Terminal.colours()));
  }

  private PlanSheet sheet() {
    String units =
        context.levels().stream()
            .map(BandwidthLevel::units)
            .map(String::valueOf)
            .collect(Collectors.joining("×"));
    return AsynchronousSheet.of(
        planning,
        new AsynchronousSheet.Context(
            context.madeFor().model().orElse("")
                + " on "
                + units
                + (units.equals("1") ? " device" : " devices"),
            context.provenance(),
            context.planningSeconds(),
            steady,
            oneDeviceSeconds()));
  }

  @Override
  public List<String> files() {
    return SteadyRun.files(steady);
  }

  @Override
  public void write(OutputFolder out) {
    out.write("plan.json", json(context.withMadeFor(anywhere(context.madeFor()))));
    steady.ifPresent(figures -> SteadyRun.write(out, sheet(), plan, costs, figures));
  }

  /** As a file elsewhere names the same model and cluster. */
  static MadeFor anywhere(MadeFor madeFor) {
    return madeFor.named(
        NetworkNames.anywhere(madeFor.model().orElseThrow()),
        madeFor.cluster().map(ClusterNames::anywhere));
  }
}
