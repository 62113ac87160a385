package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.Levels;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import dev.pipewright.units.Bytes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/**
 * What pipelines without flushes are planned for.
 *
 * @param madeFor model and cluster as the user named them
 * @param cluster what answers call the cluster
 * @param batch samples of a mini-batch, or of an update; empty where nothing says them
 */
record SteadyProblem(MadeFor madeFor, String cluster, StageCosts costs, OptionalInt batch) {
  /** A network on a cluster. */
  static SteadyProblem of(String model, ModelArgument arguments, int globalBatch) {
    Costed costed = arguments.costed(model, Optional.empty(), OptionalInt.empty(), globalBatch);
    SizeLimits.devices(costed.workload().cluster());
    MadeFor madeFor =
        new MadeFor(
            Optional.of(costed.model()),
            Optional.of(costed.cluster()),
            OptionalLong.of(globalBatch),
            arguments.profileBatch(),
            costed.sequence(),
            Optional.of(costed.workload().training()),
            costed.memory());
    return new SteadyProblem(
        madeFor, costed.workload().cluster().name(), costed.costs(), OptionalInt.of(globalBatch));
  }

  /**
   * A network on levels, which describe no device: the model is a file, and its times are taken as
   * they stand, for whole mini-batches.
   *
   * @param arguments for {@code --profile-batch} and {@code --model-format}
   */
  static SteadyProblem ofLevels(String model, ModelArgument arguments, Levels levels) {
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
    StageCosts costs =
        new StageCosts(
            new Workload(
                Chain.of(file.graph()),
                file.profile(),
                file.training().orElse(new Training(Optimizer.ADAM, file.profile().precision())),
                levels.cluster(new Bytes(Levels.NO_LIMIT))));
    return new SteadyProblem(
        MadeFor.levels(model, OptionalInt.of(given.orElse(1))),
        "--levels",
        costs,
        given.isEmpty() && samples == 1 ? OptionalInt.empty() : OptionalInt.of(samples));
  }

  /** As the user named it. */
  String model() {
    return madeFor.model().orElseThrow();
  }

  /** Where its times come from. */
  String provenance() {
    return costs.workload().profile().provenance().toString();
  }

  /** Units of each level and the rate between them; throws where groups differ in size. */
  List<BandwidthLevel> levels() {
    return Levels.of(costs.workload().cluster()).levels();
  }

  /** {@code 4×2 devices}: by level, innermost first. */
  String devices() {
    String units =
        levels().stream()
            .map(BandwidthLevel::units)
            .map(String::valueOf)
            .collect(Collectors.joining("×"));
    return units + (units.equals("1") ? " device" : " devices");
  }

  /** How many stages the flags demand; throws where there are no such pipelines. */
  OptionalInt stages(SynchronousFlags flags) {
    Workload workload = costs.workload();
    return flags.stages(
        model(), () -> workload.chain().mostStages(), cluster, workload.cluster().size());
  }
}
