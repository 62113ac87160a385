package dev.pipewright.app.cli.predict;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.TrainingCost;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How a transformer is laid out over the devices, beyond {@link DegreeFlags}. */
final class LayoutFlags {
  /** All of them, by their longest names. */
  static final List<String> NAMES =
      List.of(
          "--context-parallel",
          "--expert-parallel",
          "--expert-tensor",
          "--sequence-parallel",
          "--zero",
          "--reshard",
          "--pipeline-layout",
          "--framework",
          "--attention",
          "--offload-layers",
          "--offload-optimizer",
          "--sequence",
          "--search",
          "--tokens",
          "--device-hour");

  private static final List<String> RESHARD = List.of("always", "never");
  private static final List<String> ATTENTION = List.of("fused", "standard");

  @Option(
      names = {"--context", "--context-parallel"},
      paramLabel = "C",
      defaultValue = "1",
      description = "Devices that share each sequence.")
  private int context = 1;

  @Option(
      names = {"--expert", "--expert-parallel"},
      paramLabel = "E",
      defaultValue = "1",
      description = "Devices that share the experts of a layer.")
  private int expert = 1;

  @Option(
      names = "--expert-tensor",
      paramLabel = "T",
      description = "Devices that divide each expert. Default: as --tensor where they suffice.")
  private @Nullable Integer expertTensor;

  @Option(
      names = "--sequence-parallel",
      description = "Norms and dropout share the sequence among tensor-parallel devices.")
  private boolean sequenceParallel;

  @Option(
      names = "--zero",
      paramLabel = "0..3",
      description =
          "What data-parallel devices shard: 1 optimizer state (Megatron's distributed optimizer), 2"
              + " also gradients, 3 also parameters. Default: 1; 3 with frameworks of sharded layers.")
  private @Nullable Integer zero;

  @Option(
      names = "--reshard",
      paramLabel = "WHEN",
      description =
          "With a pipeline, when ZeRO 2 and 3 shard gradients and parameters again: always (after"
              + " every pass), or never before the end of the step. Default: as the framework;"
              + " without a pipeline always.")
  private @Nullable String reshard;

  @Option(
      names = "--pipeline-layout",
      paramLabel = "LAYOUT",
      description = "Layers of each stage, as --pipeline-model-parallel-layout of Megatron-LM.")
  private @Nullable String pipelineLayout;

  @Option(
      names = "--framework",
      paramLabel = "NAME",
      description =
          "Training software whose constants apply, like torchtitan. Default: that of the cluster's"
              + " published runs; elsewhere megatron-bridge.")
  private @Nullable String framework;

  @Option(
      names = "--attention",
      paramLabel = "KIND",
      description = "fused (FlashAttention) or standard. Default: the framework's.")
  private @Nullable String attention;

  @Option(
      names = "--offload-layers",
      paramLabel = "N",
      defaultValue = "0",
      description = "Layers of a pipeline rank whose activations wait in the host's memory.")
  private int offloadLayers;

  @Option(
      names = "--offload-optimizer",
      paramLabel = "SHARE",
      defaultValue = "0",
      description =
          "Share of the optimizer's state that the host holds and updates, 0 to 1: Megatron-LM's"
              + " --optimizer-cpu-offload with --optimizer-offload-fraction.")
  private String offloadOptimizer = "0";

  @Option(
      names = "--search",
      description =
          "Search all layouts of a transformer: the ten fastest that fit, those that no other excels"
              + " in time and memory, the fastest for each tensor and pipeline degree. Degrees that"
              + " are given stay as they are.")
  private boolean search;

  @Option(
      names = "--tokens",
      paramLabel = "N",
      description = "Tokens of the whole training, like 15e12: for days and price.")
  private @Nullable String tokens;

  @Option(
      names = "--device-hour",
      paramLabel = "PRICE",
      description = "Price of an hour of one device.")
  private @Nullable String deviceHour;

  int context() {
    return AtLeast.few("--context", context);
  }

  int expert() {
    return AtLeast.few("--expert", expert);
  }

  OptionalInt expertTensor() {
    return AtLeast.optional("--expert-tensor", expertTensor);
  }

  boolean sequenceParallel() {
    return sequenceParallel;
  }

  /** The ZeRO stage; that of the framework where none is given. */
  int zero(Framework software) {
    return zero == null ? software.usualZero() : (int) AtLeast.within("--zero", zero, 0, 3);
  }

  /** Whether ZeRO 2 and 3 shard again after every pass; as the framework where nothing is given. */
  boolean reshard(Framework software, int pipeline) {
    if (reshard == null) {
      return software.reshards();
    }
    if (!RESHARD.contains(reshard)) {
      throw new BadInputException(
          "--reshard: unknown '%s'; %s".formatted(reshard, Suggestion.of(reshard, RESHARD)));
    }
    if (pipeline == 1 && reshard.equals("never")) {
      throw new BadInputException(
          "--reshard: never needs a pipeline, without which ZeRO 2 and 3 always shard again; leave it out, or give --pipeline");
    }
    return reshard.equals("always");
  }

  Optional<String> pipelineLayout() {
    return Optional.ofNullable(pipelineLayout);
  }

  Optional<Framework> framework() {
    return Optional.ofNullable(framework)
        .map(word ->
            Framework.find(word)
                .orElseThrow(() ->
                    new BadInputException(
                        "--framework: unknown '%s'; %s"
                            .formatted(word, Suggestion.of(word, Framework.words())))));
  }

  /** Whether attention keeps no scores. */
  boolean fusedAttention(Framework software) {
    if (attention == null) {
      return software.fusesAttention();
    }
    if (!ATTENTION.contains(attention)) {
      throw new BadInputException(
          "--attention: unknown '%s'; %s"
              .formatted(attention, Suggestion.of(attention, ATTENTION)));
    }
    return attention.equals("fused");
  }

  int offloadLayers() {
    return (int) AtLeast.within("--offload-layers", offloadLayers, 0, 1 << 16);
  }

  double offloadOptimizer() {
    double share = Amounts.decimal(offloadOptimizer);
    if (!(0 <= share && share <= 1)) {
      throw new BadInputException(
          "--offload-optimizer: '%s' is no share; give a number from 0 to 1, like 0.5"
              .formatted(offloadOptimizer));
    }
    return share;
  }

  boolean search() {
    return search;
  }

  TrainingCost cost() {
    if (deviceHour != null && tokens == null) {
      throw new BadInputException("--device-hour: needs --tokens; give those of the training");
    }
    return new TrainingCost(amount("--tokens", tokens), amount("--device-hour", deviceHour));
  }

  private static OptionalDouble amount(String flag, @Nullable String text) {
    if (text == null) {
      return OptionalDouble.empty();
    }
    double value = Amounts.decimal(text);
    if (!(value > 0 && value < 1e30)) {
      throw new BadInputException(
          "%s: '%s' is no amount; give a positive number, like 15e12".formatted(flag, text));
    }
    return OptionalDouble.of(value);
  }
}
