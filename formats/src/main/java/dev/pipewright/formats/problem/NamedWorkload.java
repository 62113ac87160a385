package dev.pipewright.formats.problem;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.GivenMemory;
import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.model.DescribedModel;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.model.TransformerFile;
import dev.pipewright.formats.oracle.CalibratedProfile;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * What is trained on what, as a user states it. Words are those of the command line's options; what
 * is empty has its default.
 */
public record NamedWorkload(
    Network network,
    Devices devices,
    Optional<String> optimizer,
    Optional<String> precision,
    Optional<String> gradients) {
  private static final int MOST_PROFILED = 1024; // samples of a slice

  /** Formats in which gradients are added up, held and exchanged. */
  private static final List<String> GRADIENTS = List.of("fp32", "bf16");

  /** With the usual gradients. */
  public NamedWorkload(
      Network network, Devices devices, Optional<String> optimizer, Optional<String> precision) {
    this(network, devices, optimizer, precision, Optional.empty());
  }

  /**
   * A network.
   *
   * @param name of the zoo, of a file, or of the network that is given
   * @param profileBatch samples that a file's times are for, where the file does not say
   * @param format of a file; recognised by content where empty
   * @param sequence tokens of a sample; the network's usual ones where empty
   * @param profiled a network that is given with its profile
   * @param described a network that is given by its shapes alone
   */
  public record Network(
      String name,
      OptionalInt profileBatch,
      Optional<String> format,
      OptionalInt sequence,
      Optional<ModelFile> profiled,
      Optional<ZooModel> described) {
    /** One of the zoo or in a file. */
    public static Network named(String name) {
      return new Network(
          name,
          OptionalInt.empty(),
          Optional.empty(),
          OptionalInt.empty(),
          Optional.empty(),
          Optional.empty());
    }

    /** One with times and sizes. */
    public static Network profiled(ModelFile network) {
      return new Network(
          network.graph().name(),
          OptionalInt.empty(),
          Optional.empty(),
          OptionalInt.empty(),
          Optional.of(network),
          Optional.empty());
    }

    /** One whose times follow from its shapes. */
    public static Network described(ZooModel network) {
      return new Network(
          network.name(),
          OptionalInt.empty(),
          Optional.empty(),
          OptionalInt.empty(),
          Optional.empty(),
          Optional.of(network));
    }

    private void check() {
      if (profiled.isEmpty() && described.isEmpty()) {
        NetworkNames.check(name);
      }
      checkFile(profileBatch, format);
      sequence.ifPresent(tokens -> SizeLimits.tokens("--sequence", tokens));
      if (sequence.isPresent() && (profiled.isPresent() || described.isPresent())) {
        throw new BadInputException(
            "--sequence: %s is given by its layers; leave it out".formatted(name));
      }
    }

    private Optional<ZooModel> zoo() {
      return profiled.isPresent()
          ? Optional.empty()
          : described.or(() -> NetworkNames.zooModel(name, sequence));
    }

    private DescribedModel file() {
      return profiled
          .<DescribedModel>map(found -> found)
          .orElseGet(
              () -> ModelFiles.described(NetworkNames.modelFile(name), profileBatch, format));
    }

    private Path path() {
      return FileNames.file("the model", name);
    }
  }

  /**
   * A cluster.
   *
   * @param name of the zoo, of a file, or of the cluster that is given
   * @param built a cluster that is given
   * @param memory of every device instead of the cluster's, like {@code 32GiB}
   * @param memoryReserve share of a device that plans leave free, like {@code 0.1} or {@code 10%}
   */
  public record Devices(
      String name,
      Optional<Cluster> built,
      Optional<String> memory,
      Optional<String> memoryReserve) {
    /** Those of a cluster of the zoo or in a file. */
    public static Devices named(String name) {
      return new Devices(name, Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** Those of a given cluster. */
    public static Devices of(Cluster cluster) {
      return new Devices(cluster.name(), Optional.of(cluster), Optional.empty(), Optional.empty());
    }

    private void check() {
      if (built.isEmpty()) {
        ClusterNames.resolve(name);
      }
      memory.ifPresent(Amounts::bytes);
      memoryReserve.ifPresent(NamedWorkload::reserve);
    }

    /** The cluster, with the memory that the user gives its devices. */
    public Cluster cluster() {
      Cluster found = asNamed();
      Cluster sized = memory.map(text -> found.withMemory(Amounts.bytes(text))).orElse(found);
      return memoryReserve
          .map(share -> sized.withReserve(reserve(share)))
          .orElseGet(() -> sized.withUsualReserve(DeviceMemory.USUAL_RESERVE));
    }

    /** The cluster with its own memory. */
    public Cluster asNamed() {
      return built.orElseGet(() -> ClusterNames.resolve(name));
    }

    /** What is known of the memory of the devices. */
    public GivenMemory memory(Cluster on) {
      OptionalLong bytes =
          memory
              .map(text -> OptionalLong.of(Amounts.bytes(text).value()))
              .orElse(OptionalLong.empty());
      return new GivenMemory(bytes, on.reserve());
    }
  }

  /** With all other defaults. */
  public static NamedWorkload of(Network network, Devices devices) {
    return new NamedWorkload(network, devices, Optional.empty(), Optional.empty());
  }

  /** Throws {@link BadInputException} where a name or a word is unknown. */
  public void check() {
    network.check();
    devices.check();
    optimizer.ifPresent(NamedWorkload::checkOptimizer);
    precision.ifPresent(Precisions::check);
    gradients.ifPresent(NamedWorkload::gradientBytes);
  }

  /** Bytes of an element of gradients; throws where the word names no format of them. */
  public static int gradientBytes(String word) {
    if (!GRADIENTS.contains(word)) {
      throw new BadInputException(
          "--gradients: unknown '%s'; %s".formatted(word, Suggestion.of(word, GRADIENTS)));
    }
    return word.equals("fp32") ? 4 : 2;
  }

  /** Throws where what is said of a file is wrong. */
  public static void checkFile(OptionalInt profileBatch, Optional<String> modelFormat) {
    profileBatch.ifPresent(samples -> {
      if (samples < 1) {
        throw new BadInputException(
            "--profile-batch: " + samples + " is no batch; give a whole number >= 1");
      }
      SizeLimits.samples("--profile-batch", samples);
    });
    modelFormat.ifPresent(format -> {
      if (!ModelFiles.FORMATS.contains(format)) {
        throw new BadInputException(
            "--model-format: unknown '"
                + format
                + "'; "
                + Suggestion.of(format, ModelFiles.FORMATS));
      }
    });
  }

  /** Throws where there is no optimizer of that name. */
  public static void checkOptimizer(String word) {
    rule(word);
  }

  /** The share that is left free; throws where it is none. */
  public static double reserve(String text) {
    return Amounts.share("--memory-reserve", text);
  }

  /**
   * Reads the network and prices its layers for the cluster.
   *
   * @param globalBatch samples of a step: the most that a device may be given at once
   */
  public Costed costed(int globalBatch) {
    checkFile(network.profileBatch, network.format);
    Cluster on = devices.cluster();
    Optional<ZooModel> zoo = network.zoo();
    if (zoo.isPresent()) {
      return ofZoo(
          zoo.get(),
          () -> NetworkNames.namedShape(network.name, network.sequence),
          on,
          globalBatch);
    }
    return switch (network.file()) {
      case ModelFile measured when network.sequence.isPresent() ->
          throw ModelFiles.fixedLength(network.path());
      case ModelFile measured -> ofProfile(checked(measured), on);
      case TransformerFile shape ->
          ofZoo(
              ModelFiles.layers(network.path(), shape, network.sequence),
              () -> Optional.of(shape.trained(network.sequence)),
              on,
              globalBatch);
    };
  }

  private ModelFile checked(ModelFile read) {
    return network.profiled.isPresent() ? read : ModelFiles.timed(network.path(), read);
  }

  private Costed ofZoo(
      ZooModel zoo, Supplier<Optional<TransformerShape>> shape, Cluster on, int globalBatch) {
    Training usual = zoo.trainedOn(on);
    Training training =
        training(usual, precision.map(word -> Precisions.on(word, on)).orElse(usual.precision()));
    SizeLimits.layers(network.name, zoo.graph().size());
    Optional<CalibratedProfile> calibrated =
        shape.get().flatMap(known -> CalibratedProfile.of(known, on, training));
    LayerGraph graph = calibrated.map(found -> found.graph(zoo)).orElse(zoo.graph());
    List<Integer> slices = slices(globalBatch);
    Profile profile =
        calibrated
            .flatMap(found -> found.profile(graph, slices))
            .orElseGet(() -> Roofline.profile(graph, on, training, slices));
    return costed(graph, profile, training, on, zoo.usualBatchPerDevice(), zoo.samplesPerEpoch());
  }

  private Costed ofProfile(ModelFile file, Cluster on) {
    Precision measured = file.profile().precision();
    precision.ifPresent(word -> {
      if (!Precisions.means(word, measured)) {
        throw new BadInputException(
            "%s: its times are for %s; leave out --precision or measure again"
                .formatted(network.name, measured.word()));
      }
    });
    Training training =
        training(file.training().orElse(new Training(Optimizer.ADAM, measured)), measured);
    return costed(
        file.graph(),
        file.profile(),
        training,
        on,
        file.profile().samples().get(0),
        file.dataset()
            .map(dataset -> OptionalLong.of(dataset.samples()))
            .orElse(OptionalLong.empty()));
  }

  private Costed costed(
      LayerGraph graph,
      Profile profile,
      Training training,
      Cluster on,
      int usualSlice,
      OptionalLong samplesPerEpoch) {
    return new Costed(
        network.name,
        devices.name,
        new StageCosts(new Workload(Chain.of(graph), profile, training, on)),
        devices.memory(on),
        usualSlice,
        samplesPerEpoch,
        network.sequence);
  }

  /** Powers of two up to what a device can be given. */
  private static List<Integer> slices(int globalBatch) {
    List<Integer> slices = new ArrayList<>();
    for (int samples = 1; samples <= Math.min(globalBatch, MOST_PROFILED); samples *= 2) {
      slices.add(samples);
    }
    return slices;
  }

  private Training training(Training usual, Precision in) {
    Optimizer rule = optimizer.map(NamedWorkload::rule).orElse(usual.optimizer());
    boolean half = gradients.map(word -> gradientBytes(word) == 2).orElse(usual.halfGradients());
    if (half && in.bytes() > 2) {
      throw new BadInputException(
          "--gradients: gradients of %s have 32 bits; take --precision bf16 or leave it out"
              .formatted(in.word()));
    }
    return new Training(rule, in, half);
  }

  private static Optimizer rule(String text) {
    List<String> words = new ArrayList<>();
    for (Optimizer rule : Optimizer.values()) {
      String word = rule.name().toLowerCase(Locale.ROOT);
      if (word.equals(text)) {
        return rule;
      }
      words.add(word);
    }
    throw new BadInputException(
        "--optimizer: unknown '" + text + "'; " + Suggestion.of(text, words));
  }
}
