package dev.pipewright.app.cli;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.AsynchronousFile;
import dev.pipewright.formats.AsynchronousJson;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.ModelFile;
import dev.pipewright.formats.ModelFiles;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.sim.steady.SteadyState;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A plan that never flushes, with the prices of its stages. */
record AsynchronousArgument(AsynchronousFile file, ModelArgument.Costed costed) {
  private static final long NO_LIMIT = 1L << 62; // bytes

  /** What a plan argument names; empty where it is a plan of synchronous training. */
  static Optional<AsynchronousArgument> load(PlanArgument argument) {
    return AsynchronousJson.read(argument.path).map(file -> of(file, argument));
  }

  private static AsynchronousArgument of(AsynchronousFile file, PlanArgument argument) {
    if (argument.costModel != null) {
      throw new BadInputException(
          "--cost-model: is for training steps, and %s never flushes; leave it out"
              .formatted(argument.path));
    }
    MadeFor madeFor = file.madeFor();
    String model =
        Optional.ofNullable(argument.model)
            .or(madeFor::model)
            .orElseThrow(() ->
                new BadInputException(argument.path + ": does not say its model; add --model"));
    AsynchronousPlan plan = file.plan();
    long batch = plan.globalBatch();
    Limits.samples(argument.path.toString(), batch);
    if (madeFor.globalBatch().isPresent() && madeFor.globalBatch().getAsLong() != batch) {
      throw new BadInputException(
          "%s: its micro-batches hold %d samples, but global_batch says %d; make them agree"
              .formatted(argument.path, batch, madeFor.globalBatch().getAsLong()));
    }
    checkPasses(argument.path, plan);
    argument.arguments.fallBackTo(madeFor.training(), madeFor.memoryBytes());
    boolean named = argument.arguments.cluster != null || madeFor.cluster().isPresent();
    return new AsynchronousArgument(
        file,
        named || file.levels().isEmpty()
            ? argument.arguments.costed(
                model, madeFor.cluster(), madeFor.profileBatch(), (int) batch)
            : onLevels(model, argument.arguments, file));
  }

  /** Refuses what a run until the steady state would take too long for. */
  private static void checkPasses(Path path, AsynchronousPlan plan) {
    long each = (long) plan.stages().size() * SteadyState.rounds(plan);
    if (plan.round() > Limits.PASSES / each) {
      throw new BadInputException(
          "%s: devices of all stages have had equally many turns only after more micro-batches than can be simulated; take numbers of devices that divide each other, like 4, 2 and 1"
              .formatted(path));
    }
  }

  /** Levels say how fast devices reach each other, and nothing of their memory. */
  private static ModelArgument.Costed onLevels(
      String model, ModelArgument arguments, AsynchronousFile file) {
    Path path = Values.file("the model", model);
    if (model.isEmpty() || !Files.exists(path)) {
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
        arguments.memory == null ? NO_LIMIT : ModelArgument.bytes(arguments.memory).value();
    Training training =
        read.training().orElse(new Training(Optimizer.ADAM, read.profile().precision()));
    Workload workload =
        new Workload(
            Chain.of(read.graph()),
            read.profile(),
            training,
            cluster(file.levels(), new Bytes(memory)));
    return new ModelArgument.Costed(
        model,
        "levels",
        new StageCosts(workload),
        java.util.OptionalLong.empty(),
        read.profile().samples().get(0),
        Optional.empty());
  }

  private static Cluster cluster(List<dev.pipewright.planner.pipedream.Level> given, Bytes memory) {
    DeviceKind kind =
        new DeviceKind(
            "device", memory, new FlopsPerSecond(1), new FlopsPerSecond(1), new BytesPerSecond(1));
    List<Level> levels = new ArrayList<>();
    int[] units = new int[given.size()];
    for (int i = 0; i < units.length; i++) {
      Link link = Link.of(0, given.get(i).bytesPerSecond());
      levels.add(new Level("level " + i, link, link));
      units[i] = given.get(i).units();
    }
    return Cluster.uniform("the plan's levels", kind, levels, units);
  }
}
