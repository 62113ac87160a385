package dev.pipewright.app.cli;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.ModelFile;
import dev.pipewright.formats.ModelFiles;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say what is trained on what, shared by several commands. */
final class ModelArgument {
  @Option(
      names = "--cluster",
      paramLabel = "CLUSTER",
      description =
          "A cluster file (YAML) or a name (`pipewright clusters`), size as dapple-a:4x8.")
  @Nullable String cluster;

  @Option(
      names = "--profile-batch",
      paramLabel = "N",
      description = "Samples that a profile file's times are for, where the file does not say.")
  @Nullable Integer profileBatch;

  @Option(
      names = "--model-format",
      paramLabel = "FORMAT",
      description = "graph-text or profile; recognised by content otherwise.")
  @Nullable String modelFormat;

  @Option(
      names = "--memory",
      paramLabel = "BYTES",
      description = "Memory of every device instead of the cluster's, like 16e9 or 32GiB.")
  @Nullable String memory;

  @Option(
      names = "--optimizer",
      paramLabel = "NAME",
      description = "sgd, momentum, rmsprop or adam; the zoo knows its models', files: adam.")
  @Nullable String optimizer;

  @Option(
      names = "--precision",
      paramLabel = "NAME",
      description = "fp32 or mixed, for models of the zoo; files were measured in theirs.")
  @Nullable String precision;

  /** A model as the user named it, priced on a cluster. */
  record Costed(String model, String cluster, StageCosts costs) {
    Workload workload() {
      return costs.workload();
    }
  }

  /** What {@code --cluster} names. */
  Cluster cluster(Optional<String> fallback) {
    String name =
        Optional.ofNullable(cluster)
            .or(() -> fallback)
            .orElseThrow(() ->
                new BadInputException(
                    "no cluster given; add --cluster with a file or one of `pipewright clusters`"));
    Cluster found = ClusterNames.resolve(name);
    return memory == null ? found : found.withMemory(bytes(memory));
  }

  /** Reads the model and prices its layers for the cluster. */
  Costed costed(
      String model, Optional<String> clusterFallback, OptionalInt batchFallback, int globalBatch) {
    Cluster on = cluster(clusterFallback);
    Optional<ZooModel> zoo = zooModel(model);
    if (zoo.isPresent()) {
      Training training = training(zoo.get().training());
      LayerGraph graph = zoo.get().graph();
      Profile profile = Roofline.profile(graph, on.device(0), training, slices(globalBatch));
      return costed(model, graph, profile, training, on);
    }
    Path path = Path.of(model);
    if (!Files.exists(path)) {
      throw new BadInputException(
          "no model '" + model + "'; give a file or one of " + String.join(", ", Models.names()));
    }
    OptionalInt batch = profileBatch == null ? batchFallback : OptionalInt.of(profileBatch);
    ModelFile file = ModelFiles.read(path, batch, Optional.ofNullable(modelFormat));
    if (precision != null && file.profile().precision() != precision()) {
      throw new BadInputException(
          model
              + ": its times are for "
              + file.profile().precision().name().toLowerCase(Locale.ROOT)
              + "; leave out --precision or measure again");
    }
    Training training =
        training(file.training().orElse(new Training(Optimizer.ADAM, file.profile().precision())));
    return costed(model, file.graph(), file.profile(), training, on);
  }

  private static Optional<ZooModel> zooModel(String name) {
    try {
      return Models.find(name);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
  }

  private static Costed costed(
      String model, LayerGraph graph, Profile profile, Training training, Cluster on) {
    StageCosts costs = new StageCosts(new Workload(Chain.of(graph), profile, training, on));
    return new Costed(model, on.name(), costs);
  }

  /** Powers of two up to what a device can be given. */
  private static List<Integer> slices(int globalBatch) {
    List<Integer> slices = new ArrayList<>();
    for (int samples = 1; samples <= Math.min(globalBatch, 1024); samples *= 2) {
      slices.add(samples);
    }
    return slices;
  }

  private Training training(Training usual) {
    Optimizer rule =
        optimizer == null ? usual.optimizer() : word(Optimizer.class, "--optimizer", optimizer);
    return new Training(rule, precision == null ? usual.precision() : precision());
  }

  private Precision precision() {
    return word(Precision.class, "--precision", java.util.Objects.requireNonNull(precision));
  }

  private static <E extends Enum<E>> E word(Class<E> type, String option, String text) {
    List<String> words = new ArrayList<>();
    for (E constant : type.getEnumConstants()) {
      String word = constant.name().toLowerCase(Locale.ROOT);
      if (word.equals(text)) {
        return constant;
      }
      words.add(word);
    }
    throw new BadInputException(
        option + ": unknown '" + text + "'; one of " + String.join(", ", words));
  }

  /** Reads {@code 16e9}, {@code 32GiB}, {@code 40GB}. */
  static Bytes bytes(String text) {
    String number = text.strip();
    double unit = 1;
    String[] names = {"TiB", "GiB", "MiB", "KiB", "TB", "GB", "MB", "kB", "B"};
    double[] units = {0x1p40, 0x1p30, 0x1p20, 0x1p10, 1e12, 1e9, 1e6, 1e3, 1};
    for (int i = 0; i < names.length; i++) {
      if (number.endsWith(names[i])) {
        number = number.substring(0, number.length() - names[i].length()).strip();
        unit = units[i];
        break;
      }
    }
    try {
      double value = Double.parseDouble(number) * unit;
      if (value >= 1 && value < 0x1p62) {
        return Bytes.of(value);
      }
    } catch (NumberFormatException e) {
      // said below, as for numbers out of range
    }
    throw new BadInputException(
        "--memory: '" + text + "' is no amount of memory; write bytes or like 16GiB");
  }
}
