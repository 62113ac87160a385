package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.predict.run.RunPrediction;
import dev.pipewright.units.Precision;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The devices that the workers of a run stand for, and so the prediction of the run. */
public final class PredictionArgument {
  @Option(
      names = "--cluster",
      paramLabel = "CLUSTER",
      description = "The devices and links of the workers; the plan's own otherwise.")
  @Nullable String cluster;

  @Option(
      names = "--profile",
      paramLabel = "FILE",
      description =
          "Measured times of the network's layers; otherwise those of the plan's or model's file,"
              + " or for a model of the zoo what the cluster's devices should take.")
  @Nullable String profile;

  @Option(
      names = "--profile-batch",
      paramLabel = "N",
      description = "Samples that a profile file's times are for, where the file does not say.")
  @Nullable Integer profileBatch;

  @Option(
      names = "--emulate",
      description =
          "Wait for as long as the devices would compute instead of computing, with real"
              + " processes and messages of real sizes: for more workers than the machine has cores."
              + " Nothing is learnt.")
  boolean emulate;

  @Option(
      names = "--stretch",
      paramLabel = "X",
      description =
          "Devices take X times as long as profiled, where they are emulated. Default: 1.")
  @Nullable Double stretch;

  /** Throws {@link BadInputException} where something is missing or does not belong together. */
  RunPrediction of(TrainArgument.Chosen chosen, Optimizer optimizer) {
    Assignment assignment = chosen.assignment();
    if (emulate && assignment.inOnePlace()) {
      throw new BadInputException(
          "--emulate: emulated workers have no states to send, as those of %s do;"
                  .formatted(assignment.asyncPipeline().orElseThrow().name())
              + " leave it out");
    }
    if (emulate && assignment.stages().stream().anyMatch(stage -> stage.split().several())) {
      throw new BadInputException(
          "--emulate: emulated workers do not split layers; leave out --tensor-parallel and --spatial-parallel"
              + " or --emulate");
    }
    StageCosts costs = costs(chosen, optimizer);
    RunPrediction runPrediction;
    try {
      runPrediction = new RunPrediction(costs, assignment, devices(chosen));
    } catch (IllegalArgumentException e) {
      throw new BadInputException(
          "%s has %d devices, but there are %d workers; give a larger --cluster"
              .formatted(
                  costs.workload().cluster().name(),
                  costs.workload().cluster().size(),
                  assignment.size()));
    }
    if (emulate) {
      checkTimes(profile == null ? chosen.model() : profile, runPrediction, costs);
    }
    return runPrediction;
  }

  /** The same where the user, or the plan, says what to expect anything of. */
  Optional<RunPrediction> maybe(TrainArgument.Chosen chosen, Optimizer optimizer) {
    boolean asked = cluster != null || profile != null || stretch != null || emulate;
    boolean known = chosen.plan().flatMap(plan -> plan.madeFor().cluster()).isPresent();
    return asked || known ? Optional.of(of(chosen, optimizer)) : Optional.empty();
  }

  private StageCosts costs(TrainArgument.Chosen chosen, Optimizer optimizer) {
    if (stretch != null && !emulate) {
      throw new BadInputException(
          "--stretch: only emulated devices can be slower than they are; add --emulate");
    }
    double factor = stretch == null ? 1 : stretch;
    if (!(factor > 0 && factor <= 1e6)) {
      throw new BadInputException(
          "--stretch: %s is no factor; give one above 0, like 10".formatted(stretch));
    }
    Optional<MadeFor> plan = chosen.plan().map(TrainingStages::madeFor);
    ModelArgument model = new ModelArgument();
    model.cluster = cluster;
    model.profileBatch = profileBatch;
    model.optimizer = optimizer.name().toLowerCase(Locale.ROOT);
    String priced = profile == null ? chosen.model() : profile;
    if (NetworkNames.zooModel(priced).isPresent()) {
      model.precision = Precision.FP32.word(); // what workers compute in
    }
    chosen.sequence().ifPresent(tokens -> model.sequence = profile == null ? tokens : null);
    OptionalInt batch = plan.map(MadeFor::profileBatch).orElse(OptionalInt.empty());
    Workload workload =
        model
            .costed(
                priced,
                plan.flatMap(MadeFor::cluster),
                profile == null ? batch : OptionalInt.empty(),
                chosen.assignment().batch())
            .workload();
    int layers = chosen.assignment().stages().getLast().range().last() + 1;
    if (workload.chain().size() != layers) {
      throw new BadInputException(
          "%s: has times of %d layers, but %s has %d; give a profile of this network"
              .formatted(priced, workload.chain().size(), chosen.model(), layers));
    }
    return new StageCosts(
        new Workload(
            workload.chain(),
            workload.profile().slower(factor),
            workload.training(),
            workload.cluster()));
  }

  private static List<Integer> devices(TrainArgument.Chosen chosen) {
    return chosen
        .plan()
        .map(TrainingStages::devices)
        .orElseGet(() -> IntStream.range(0, chosen.assignment().size()).boxed().toList());
  }

  /** What computes takes time, so a layer with parameters and without time was not measured. */
  private static void checkTimes(String from, RunPrediction runPrediction, StageCosts costs) {
    LayerGraph graph = costs.workload().chain().graph();
    double[] parameters = costs.parameterBytes();
    List<LayerSeconds> layers = runPrediction.layers().layers();
    for (int at = 0; at < layers.size(); at++) {
      boolean learns = parameters[at + 1] > parameters[at];
      if (learns && (layers.get(at).forward() == 0 || layers.get(at).backward() == 0)) {
        int layer = costs.workload().chain().added(at)[0];
        throw new BadInputException(
            "%s: has no time for layer %s; measure it with `pipewright profile`"
                .formatted(from, graph.layer(layer).name()));
      }
    }
  }
}
