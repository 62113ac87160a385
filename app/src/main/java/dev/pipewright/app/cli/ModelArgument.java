package dev.pipewright.app.cli;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.GivenMemory;
import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Precision;
import dev.pipewright.units.Range;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
      description = "graph-text, profile, paradl or layer-table; recognised by content otherwise.")
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
      names = "--memory-reserve",
      paramLabel = "SHARE",
      description =
          "Share of what a process can use of a device that plans leave free, like 0.1 or 10%%."
              + " Default: 6%%; 0 with --memory, on clusters of papers and on measured ones.")
  @Nullable String memoryReserve;

  @Option(
      names = "--precision",
      paramLabel = "NAME",
      description =
          "bf16, fp16, tf32 or fp32, for models of the zoo; files were measured in theirs. mixed is"
              + " bf16, on devices without it fp16. Default: mixed for transformers on tensor"
              + " cores, fp32 for other networks and on clusters of papers.")
  @Nullable String precision;

  /**
   * A model priced on a cluster.
   *
   * @param model as the user named it
   * @param cluster as the user named it
   * @param memory of every device: bytes where the user said so, and what plans leave free
   * @param usualSlice samples that the model's source gives a device
   * @param samplesPerEpoch of the data set, where the file says
   */
  record Costed(
      String model,
      String cluster,
      StageCosts costs,
      GivenMemory memory,
      int usualSlice,
      OptionalLong samplesPerEpoch) {
    Workload workload() {
      return costs.workload();
    }
  }

  /** What was said beside the model and the cluster, as a command line says it again. */
  String flags() {
    Map<String, @Nullable Object> said = new LinkedHashMap<>();
    said.put("--profile-batch", profileBatch);
    said.put("--model-format", modelFormat);
    said.put("--memory", memory);
    said.put("--memory-reserve", memoryReserve);
    said.put("--optimizer", optimizer);
    said.put("--precision", precision);
    StringBuilder flags = new StringBuilder();
    said.forEach((flag, value) ->
        flags.append(
            value == null ? "" : " " + flag + " " + OptionValues.quoted(value.toString())));
    return flags.toString();
  }

  private String clusterName(Optional<String> fallback) {
    return Optional.ofNullable(cluster)
        .or(() -> fallback)
        .orElseThrow(() ->
            new BadInputException(
                "no cluster given; add --cluster with a file or one of `pipewright clusters`"));
  }

  /** Samples that the model's times are for, where the user says. */
  OptionalInt profileBatch() {
    return profileBatch == null ? OptionalInt.empty() : OptionalInt.of(profileBatch);
  }

  /** The cluster, with the memory that the user gives its devices. */
  Cluster cluster(Optional<String> fallback) {
    Cluster found = ClusterNames.resolve(clusterName(fallback));
    Cluster sized = memory == null ? found : found.withMemory(bytes(memory));
    return memoryReserve == null
        ? sized.withUsualReserve(DeviceMemory.USUAL_RESERVE)
        : sized.withReserve(OptionValues.share("--memory-reserve", memoryReserve));
  }

  /** What is known of the memory of the devices. */
  GivenMemory memory(Cluster on) {
    return new GivenMemory(
        memory == null ? OptionalLong.empty() : OptionalLong.of(bytes(memory).value()),
        on.reserve());
  }

  private void check() {
    if (profileBatch != null && profileBatch < 1) {
      throw new BadInputException(
          "--profile-batch: " + profileBatch + " is no batch; give a whole number >= 1");
    }
    if (profileBatch != null) {
      SizeLimits.samples("--profile-batch", profileBatch);
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
    Cluster on = cluster(clusterFallback);
    GivenMemory given = memory(on);
    Optional<ZooModel> zoo = zooModel(model);
    if (zoo.isPresent()) {
      Training usual = zoo.get().trainedOn(on);
      Training training =
          training(usual, precision == null ? usual.precision() : Precisions.on(precision, on));
      LayerGraph graph = zoo.get().graph();
      SizeLimits.layers(model, graph.size());
      Profile profile = Roofline.profile(graph, on, training, slices(globalBatch));
      return new Costed(
          model,
          name,
          costs(graph, profile, training, on),
          given,
          zoo.get().usualBatchPerDevice(),
          zoo.get().samplesPerEpoch());
    }
    Path path = modelFile(model);
    OptionalInt batch = profileBatch == null ? batchFallback : OptionalInt.of(profileBatch);
    ModelFile file = ModelFiles.read(path, batch, Optional.ofNullable(modelFormat));
    Precision measured = file.profile().precision();
    if (precision != null && !Precisions.means(precision, measured)) {
      throw new BadInputException(
          "%s: its times are for %s; leave out --precision or measure again"
              .formatted(model, measured.word()));
    }
    Training training =
        training(file.training().orElse(new Training(Optimizer.ADAM, measured)), measured);
    return new Costed(
        model,
        name,
        costs(file.graph(), file.profile(), training, on),
        given,
        file.profile().samples().get(0),
        file.dataset()
            .map(dataset -> OptionalLong.of(dataset.samples()))
            .orElse(OptionalLong.empty()));
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
      String format = precision;
      found.of("--precision", () -> Precisions.check(format));
    }
    if (memoryReserve != null) {
      String share = memoryReserve;
      found.of("--memory-reserve", () -> OptionValues.share("--memory-reserve", share));
    }
  }

  /** The file of a model that is none of the zoo. */
  static Path modelFile(String model) {
    Path path = OptionValues.file("the model", model);
    if (model.isEmpty() || !(Files.exists(path) || model.equals("-"))) {
      OptionValues.requireNoPath("model", model);
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
        ? "give a file or a name that `pipewright models` lists"
        : "there are " + String.join(", ", alike) + " (`pipewright models` lists all)";
  }

  /** Takes from a plan file what the user does not say anew. */
  void fallBackTo(Optional<Training> trained, GivenMemory given) {
    if (trained.isPresent()) {
      Training training = trained.get();
      optimizer = optimizer == null ? lower(training.optimizer()) : optimizer;
      precision = precision == null ? training.precision().word() : precision;
    }
    boolean sameDevices = cluster == null && memory == null;
    if (sameDevices && memoryReserve == null && given.reserve().isPresent()) {
      memoryReserve = Double.toString(given.reserve().getAsDouble());
    }
    if (memory == null && given.bytes().isPresent()) {
      memory = Long.toString(given.bytes().getAsLong());
    }
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** How a file elsewhere names the same model: as here, but a file by its whole path. */
  static String anywhere(String model) {
    return zooModel(model).isPresent()
        ? model
        : OptionValues.file("the model", model).toAbsolutePath().normalize().toString();
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

  private Training training(Training usual, Precision in) {
    Optimizer rule =
        optimizer == null ? usual.optimizer() : word(Optimizer.class, "--optimizer", optimizer);
    return new Training(rule, in);
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
      if (value >= 1 && value <= Range.BYTES.most()) {
        return Bytes.of(value);
      }
    }
    throw new BadInputException(
        "--memory: '" + text + "' is no amount of memory; write bytes up to 1e15, or like 16GiB");
  }
}
