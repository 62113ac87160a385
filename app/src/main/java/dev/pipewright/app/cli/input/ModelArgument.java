package dev.pipewright.app.cli.input;

import dev.pipewright.app.cli.host.LocalMachine;
import dev.pipewright.app.cli.host.ThisHost;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.GivenMemory;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.machine.UnnamedDevices;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.NamedWorkload;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.formats.problem.Precisions;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.model.Training;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say what is trained on what, shared by several commands. */
public final class ModelArgument {
  private static final int MOST_GPUS = 16;

  /** What {@code --model-format} says of itself. */
  public static final String FORMATS =
      "graph-text, hugging-face, calculon, profile, megatron, torchtitan, paradl or layer-table;"
          + " recognised by content otherwise.";

  @Option(
      names = "--cluster",
      paramLabel = "CLUSTER",
      description =
          "A cluster file (YAML, ParaDL's .plat, Slurm's nodes, a system of Calculon or"
              + " AIConfigurator) or a name (`pipewright clusters`), size as dapple-a:4x8. local is"
              + " this machine: its GPUs, or else its processor.")
  @Nullable
  public String cluster;

  @Option(
      names = "--gpus",
      paramLabel = "N",
      description =
          "Instead of a cluster: one machine with N equal GPUs on PCIe, of 16 GiB unless their memory"
              + " is given. Networks that were not measured get the rates of an A100.")
  @Nullable
  public Integer gpus;

  @Option(
      names = "--profile-batch",
      paramLabel = "N",
      description = "Samples that a profile file's times are for, where the file does not say.")
  @Nullable
  public Integer profileBatch;

  @Option(names = "--model-format", paramLabel = "FORMAT", description = FORMATS)
  @Nullable
  public String modelFormat;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description =
          "Tokens of a transformer's sample. Default: the network's longest up to 8192, otherwise"
              + " 4096; that of the plan, where there is one.")
  @Nullable
  public Integer sequence;

  @Option(
      names = "--memory",
      paramLabel = "BYTES",
      description = "Memory of every device instead of the cluster's, like 16e9 or 32GiB.")
  @Nullable
  public String memory;

  @Option(
      names = "--optimizer",
      paramLabel = "NAME",
      description = "sgd, momentum, rmsprop or adam; the zoo knows its models', files: adam.")
  @Nullable
  public String optimizer;

  @Option(
      names = "--memory-reserve",
      paramLabel = "SHARE",
      description =
          "Share of what a process can use of a device that plans leave free, like 0.1 or 10%%."
              + " Default: 6%%; 0 with --memory, on clusters of papers and on measured ones.")
  @Nullable
  public String memoryReserve;

  @Option(
      names = "--precision",
      paramLabel = "NAME",
      description =
          "bf16, fp16, tf32 or fp32, for models of the zoo; files were measured in theirs. mixed is"
              + " bf16, on devices without it fp16. fp8, mxfp8 and nvfp4: products of transformers"
              + " whose layout `predict` is given. Default: mixed for transformers on tensor"
              + " cores, fp32 for other networks and on clusters of papers.")
  @Nullable
  public String precision;

  @Option(
      names = "--gradients",
      paramLabel = "FORMAT",
      description =
          "fp32 or bf16: gradients as they are added up, held and exchanged. Default: fp32; of stated"
              + " layouts exchanged in 16 bits with fp8 and by frameworks that do.")
  @Nullable
  public String gradients;

  /** The flags other than model and cluster, as a command line gives them. */
  public String flags() {
    Map<String, @Nullable Object> said = new LinkedHashMap<>();
    said.put("--profile-batch", profileBatch);
    said.put("--model-format", modelFormat);
    said.put("--sequence", sequence);
    said.put("--memory", memory);
    said.put("--memory-reserve", memoryReserve);
    said.put("--optimizer", optimizer);
    said.put("--precision", precision);
    said.put("--gradients", gradients);
    StringBuilder flags = new StringBuilder();
    said.forEach((flag, value) ->
        flags.append(
            value == null ? "" : " " + flag + " " + OptionValues.quoted(value.toString())));
    return flags.toString();
  }

  private String clusterName(Optional<String> fallback) {
    return stated()
        .or(() -> fallback)
        .orElseThrow(() ->
            new BadInputException(
                "no cluster given; add --cluster with a file or one of `pipewright clusters`"));
  }

  /** The cluster that the flags state, from then on under a name that means the same everywhere. */
  private Optional<String> stated() {
    if (gpus != null) {
      if (cluster != null) {
        throw new BadInputException(
            "--gpus: is a cluster of its own; leave out --cluster, or name the size with it, like"
                + " dgx-h100:4x8");
      }
      if (gpus < 1 || gpus > MOST_GPUS) {
        throw new BadInputException(
            "--gpus: a machine has 1 to %d GPUs, not %d; give --cluster for more"
                .formatted(MOST_GPUS, gpus));
      }
      cluster = UnnamedDevices.gpus(gpus);
      gpus = null;
    }
    if (LocalMachine.NAME.equals(cluster)) {
      LocalMachine here = LocalMachine.of(new ThisHost());
      cluster = here.cluster();
      if (memory == null && here.memory().isPresent()) {
        memory = Long.toString(here.memory().getAsLong());
      }
    }
    return Optional.ofNullable(cluster);
  }

  /** Samples that the model's times are for, where the user says. */
  public OptionalInt profileBatch() {
    return profileBatch == null ? OptionalInt.empty() : OptionalInt.of(profileBatch);
  }

  /** Tokens of a sample, where the user says. */
  public OptionalInt sequence() {
    return sequence == null ? OptionalInt.empty() : OptionalInt.of(sequence);
  }

  /** What is said of a network and a cluster, with that of a plan where the user says nothing. */
  public NamedWorkload named(
      String model, Optional<String> clusterFallback, OptionalInt batchFallback) {
    return new NamedWorkload(
        new NamedWorkload.Network(
            model,
            profileBatch == null ? batchFallback : OptionalInt.of(profileBatch),
            Optional.ofNullable(modelFormat),
            sequence(),
            Optional.empty(),
            Optional.empty()),
        devices(clusterName(clusterFallback)),
        Optional.ofNullable(optimizer),
        Optional.ofNullable(precision),
        Optional.ofNullable(gradients));
  }

  private NamedWorkload.Devices devices(String name) {
    return new NamedWorkload.Devices(
        name, Optional.empty(), Optional.ofNullable(memory), Optional.ofNullable(memoryReserve));
  }

  /** The cluster, with the memory that the user gives its devices. */
  public Cluster cluster(Optional<String> fallback) {
    return devices(clusterName(fallback)).cluster();
  }

  /** What is known of the memory of the devices. */
  public GivenMemory memory(Cluster on) {
    return devices("").memory(on);
  }

  /** Reads the model and prices its layers for the cluster. */
  public Costed costed(
      String model, Optional<String> clusterFallback, OptionalInt batchFallback, int globalBatch) {
    return named(model, clusterFallback, batchFallback).costed(globalBatch);
  }

  /** Throws {@link BadInputException} where no cluster is given. */
  public void require() {
    clusterName(Optional.empty());
  }

  /** Says what is wrong with the model and these options, as far as they are given. */
  public void check(String model, Mistakes found) {
    if (!model.isBlank() && !found.mentions("MODEL")) {
      found.of(model, () -> NetworkNames.check(model));
    }
    if (gpus != null) {
      found.of("--gpus", this::stated);
    } else if (cluster != null && !cluster.isBlank()) {
      found.of("--cluster", () -> stated().ifPresent(ClusterNames::resolve));
    }
    found.of(
        "--profile-batch",
        () -> NamedWorkload.checkFile(profileBatch(), Optional.ofNullable(modelFormat)));
    if (sequence != null) {
      int tokens = sequence;
      found.of("--sequence", () -> SizeLimits.tokens("--sequence", tokens));
    }
    if (memory != null) {
      String amount = memory;
      found.of("--memory", () -> Amounts.bytes(amount));
    }
    if (optimizer != null) {
      String rule = optimizer;
      found.of("--optimizer", () -> NamedWorkload.checkOptimizer(rule));
    }
    if (precision != null) {
      String format = precision;
      found.of("--precision", () -> Precisions.check(format));
    }
    if (gradients != null) {
      String format = gradients;
      found.of("--gradients", () -> NamedWorkload.gradientBytes(format));
    }
    if (memoryReserve != null) {
      String share = memoryReserve;
      found.of("--memory-reserve", () -> NamedWorkload.reserve(share));
    }
  }

  /** Takes from a plan file what the user does not say anew. */
  public void fallBackTo(Optional<Training> trained, GivenMemory given) {
    if (trained.isPresent()) {
      Training training = trained.get();
      optimizer = optimizer == null ? lower(training.optimizer()) : optimizer;
      precision = precision == null ? training.precision().word() : precision;
      gradients = gradients == null && training.halfGradients() ? "bf16" : gradients;
    }
    boolean sameDevices = cluster == null && memory == null;
    if (sameDevices && memoryReserve == null && given.reserve().isPresent()) {
      memoryReserve = Double.toString(given.reserve().getAsDouble());
    }
    if (memory == null && given.bytes().isPresent()) {
      memory = Long.toString(given.bytes().getAsLong());
    }
  }

  /**
   * Takes the length of a plan's samples, but for networks whose layers have lengths of their own.
   */
  public void fallBackTo(String model, int tokens) {
    if (sequence == null
        && NetworkNames.transformer(model, Optional.ofNullable(modelFormat), OptionalInt.empty())
            .isPresent()) {
      sequence = tokens;
    }
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
