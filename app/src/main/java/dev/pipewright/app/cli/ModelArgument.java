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
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say what is trained on what, shared by several commands. */
final class ModelArgument {
  /** A number and a prefix. */
  private static final Pattern AMOUNT =
      Pattern.compile(
          "(\\d+\\.?\\d*(?:e[+]?\\d+)?)\\s*((?:[kmgt]i?)?)b?", Pattern.CASE_INSENSITIVE);

  @Option(
      names = "--cluster",
      paramLabel = "CLUSTER",
      description =
          "A cluster file (YAML, or ParaDL's .plat) or a name (`pipewright clusters`), size as"
              + " dapple-a:4x8.")
  @Nullable String cluster;

  @Option(
      names = "--profile-batch",
      paramLabel = "N",
      description = "Samples that a profile file's times are for, where the file does not say.")
  @Nullable Integer profileBatch;

  @Option(
      names = "--model-format",
      paramLabel = "FORMAT",
      description = "graph-text, profile or paradl; recognised by content otherwise.")
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

  /**
   * A model priced on a cluster.
   *
   * @param model as the user named it
   * @param cluster as the user named it
   * @param memoryBytes of every device, where the user said so
   * @param usualSlice samples that the model's source gives a device
   * @param samplesPerEpoch of the data set, where the file says
   */
  record Costed(
      String model,
      String cluster,
      StageCosts costs,
      OptionalLong memoryBytes,
      int usualSlice,
      Optional<Long> samplesPerEpoch) {
    Workload workload() {
      return costs.workload();
    }
  }

  private String clusterName(Optional<String> fallback) {
    return Optional.ofNullable(cluster)
        .or(() -> fallback)
        .orElseThrow(() ->
            new BadInputException(
                "no cluster given; add --cluster with a file or one of `pipewright clusters`"));
  }

  /** The cluster, with the memory that the user gives its devices. */
  Cluster cluster(Optional<String> fallback) {
    Cluster found = ClusterNames.resolve(clusterName(fallback));
    return memory == null ? found : found.withMemory(bytes(memory));
  }

  private void check() {
    if (profileBatch != null && profileBatch < 1) {
      throw new BadInputException(
          "--profile-batch: " + profileBatch + " is no batch; give a whole number >= 1");
    }
    if (modelFormat != null && !ModelFiles.FORMATS.contains(modelFormat)) {
      throw new BadInputException(
          "--model-format: unknown '"
              + modelFormat
              + "'; "
              + Suggestion.of(modelFormat, ModelFiles.FORMATS));
    }
  }

  /** Reads the model and prices its layers for the cluster. */
  Costed costed(
      String model, Optional<String> clusterFallback, OptionalInt batchFallback, int globalBatch) {
    check();
    String name = clusterName(clusterFallback);
    OptionalLong given =
        memory == null ? OptionalLong.empty() : OptionalLong.of(bytes(memory).value());
    Cluster on = cluster(clusterFallback);
    Optional<ZooModel> zoo = zooModel(model);
    if (zoo.isPresent()) {
      Training training = training(zoo.get().training());
      LayerGraph graph = zoo.get().graph();
      Limits.layers(model, graph.size());
      Profile profile = Roofline.profile(graph, on, training, slices(globalBatch));
      return new Costed(
          model,
          name,
          costs(graph, profile, training, on),
          given,
          zoo.get().samples(),
          Optional.empty());
    }
    Path path = modelFile(model);
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
    return new Costed(
        model,
        name,
        costs(file.graph(), file.profile(), training, on),
        given,
        file.profile().samples().get(0),
        file.dataset().map(ModelFile.Dataset::samples));
  }

  /** Throws {@link BadInputException} where no cluster is given. */
  void require() {
    clusterName(Optional.empty());
  }

  /** Says what is wrong with the model and these options, as far as they are given. */
  void check(String model, Mistakes found) {
    if (!model.isBlank() && !found.mentions("MODEL")) {
      found.of(
          model,
          () -> {
            if (zooModel(model).isEmpty()) {
              modelFile(model);
            }
          });
    }
    if (cluster != null && !cluster.isBlank()) {
      String name = cluster;
      found.of("--cluster", () -> ClusterNames.resolve(name));
    }
    found.of("--profile-batch", this::check);
    if (memory != null) {
      String amount = memory;
      found.of("--memory", () -> bytes(amount));
    }
    if (optimizer != null) {
      String rule = optimizer;
      found.of("--optimizer", () -> word(Optimizer.class, "--optimizer", rule));
    }
    if (precision != null) {
      found.of("--precision", this::precision);
    }
  }

  /** The file of a model that is none of the zoo. */
  static Path modelFile(String model) {
    Path path = Values.file("the model", model);
    if (model.isEmpty() || !(Files.exists(path) || model.equals("-"))) {
      Values.requireNoPath("model", model);
      throw new BadInputException("no model '" + model + "'; " + meant(model));
    }
    return path;
  }

  /** What an unknown name may mean. */
  static String meant(String model) {
    Optional<String> near = Suggestion.near(model, Models.names());
    if (near.isPresent()) {
      return near.get();
    }
    List<String> alike = Suggestion.alike(model, Models.names());
    return alike.isEmpty()
        ? "give a file or one of " + String.join(", ", Models.names())
        : "there are " + String.join(", ", alike) + " (`pipewright models` lists all)";
  }

  /** Takes from a plan file what the user does not say anew. */
  void fallBackTo(Optional<Training> trained, OptionalLong memoryBytes) {
    if (trained.isPresent()) {
      Training training = trained.get();
      optimizer = optimizer == null ? lower(training.optimizer()) : optimizer;
      precision = precision == null ? lower(training.precision()) : precision;
    }
    if (memory == null && memoryBytes.isPresent()) {
      memory = Long.toString(memoryBytes.getAsLong());
    }
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** How a file elsewhere names the same model: as here, but a file by its whole path. */
  static String anywhere(String model) {
    return zooModel(model).isPresent()
        ? model
        : Values.file("the model", model).toAbsolutePath().normalize().toString();
  }

  /** A network of the zoo by its name, where there is one. */
  static Optional<ZooModel> zooModel(String name) {
    try {
      return Models.find(name);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
  }

  private static StageCosts costs(
      LayerGraph graph, Profile profile, Training training, Cluster on) {
    return new StageCosts(new Workload(Chain.of(graph), profile, training, on));
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
    throw new BadInputException(option + ": unknown '" + text + "'; " + Suggestion.of(text, words));
  }

  /** Reads {@code 16e9}, {@code 32GiB}, {@code 40 GB}, {@code 40g}. */
  static Bytes bytes(String text) {
    Matcher amount = AMOUNT.matcher(text.strip());
    if (amount.matches()) {
      String prefix = amount.group(2).toLowerCase(Locale.ROOT);
      double base = prefix.endsWith("i") ? 1024 : 1000;
      int power = prefix.isEmpty() ? 0 : "kmgt".indexOf(prefix.charAt(0)) + 1;
      double value = Double.parseDouble(amount.group(1)) * Math.pow(base, power);
      if (value >= 1 && value < 0x1p62) {
        return Bytes.of(value);
      }
    }
    throw new BadInputException(
        "--memory: '" + text + "' is no amount of memory; write bytes or like 16GiB");
  }
}
