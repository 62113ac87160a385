package dev.pipewright.predict.transformer;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Training software, with facts about it that are not calibrated: kernels of attention, when
 * gradients are exchanged, and the bytes that its loss and its optimizer move. Frameworks on one
 * core share that core's constants.
 */
public enum Framework {
  MEGATRON_DEEPSPEED("standard", Exchange.AFTER_BACKWARD, 24, 100),
  /** Megatron-LM of D. Narayanan et al., SC 2021, arXiv:2104.04473. */
  MEGATRON_2021("standard", Exchange.AFTER_BACKWARD, 24, 100),
  /** Megatron-LM of V. Korthikanti et al., MLSys 2023, arXiv:2205.05198. */
  MEGATRON_2022("standard", Exchange.AFTER_BACKWARD, 24, 30),
  MPT("triton23", Exchange.FULLY_SHARDED, 24, 30),
  LLM_FOUNDRY("triton23", Exchange.FULLY_SHARDED, 24, 30),
  PAXML("cudnn", Exchange.FULLY_SHARDED, 16, 30),
  MAXTEXT("cudnn", Exchange.FULLY_SHARDED, 16, 30),
  FMS_FSDP("fa2", Exchange.FULLY_SHARDED, 24, 30),
  TORCHTITAN("fa2", Exchange.FULLY_SHARDED, 20, 30),
  NEMO("cudnn", Exchange.OVERLAPPED, 16, 30),
  MEGATRON_BRIDGE("cudnn", Exchange.OVERLAPPED, 16, 30),
  NEMO_AUTOMODEL("cudnn", Exchange.FULLY_SHARDED, 20, 30),
  PRIMUS("cudnn", Exchange.OVERLAPPED, 16, 30);

  /** When gradients are exchanged between data-parallel ranks. */
  enum Exchange {
    /** In one all-reduce that nothing overlaps. */
    AFTER_BACKWARD,
    /** In buckets, while the backward pass runs. */
    OVERLAPPED,
    /** Layer by layer with sharded parameters. */
    FULLY_SHARDED
  }

  private final String kernel;
  private final Exchange exchange;
  private final double lossBytes;
  private final double optimizerBytes;

  Framework(String kernel, Exchange exchange, double lossBytes, double optimizerBytes) {
    this.kernel = kernel;
    this.exchange = exchange;
    this.lossBytes = lossBytes;
    this.optimizerBytes = optimizerBytes;
  }

  /** As tables write it: {@code megatron-bridge}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The framework of a name; empty where none is called so. */
  public static Optional<Framework> find(String word) {
    return Arrays.stream(values()).filter(each -> each.word().equals(word)).findFirst();
  }

  /** All names. */
  public static List<String> words() {
    return Arrays.stream(values()).map(Framework::word).toList();
  }

  /** The generation of attention kernels, as constants name it. */
  String kernel() {
    return kernel;
  }

  /** Whether it computes attention without keeping scores, by default. */
  public boolean fusesAttention() {
    return !kernel.equals("standard");
  }

  /** The ZeRO stage that it uses by default: 3 where it shards layer by layer. */
  public int usualZero() {
    return exchange == Exchange.FULLY_SHARDED ? 3 : 1;
  }

  /** Whether its loss writes the gradient in place of the logits (Transformer Engine's does). */
  public boolean fusesLoss() {
    return this == NEMO || this == MEGATRON_BRIDGE;
  }

  /** Whether 8-bit scales come from earlier steps. */
  public boolean delaysScales() {
    return this == LLM_FOUNDRY || this == PAXML;
  }

  /** Whether gradients are exchanged in 16 bits by default. */
  public boolean exchangesHalf() {
    return this == MPT || this == LLM_FOUNDRY;
  }

  /**
   * When a run's gradients are exchanged. Megatron-LM of 2021 used PyTorch's buckets where there is
   * no pipeline.
   */
  Exchange exchange(TrainingLayout layout) {
    return this == MEGATRON_2021 && layout.pipeline() == 1 ? Exchange.OVERLAPPED : exchange;
  }

  /** Bytes that the loss moves for each logit. */
  double lossBytes() {
    return lossBytes;
  }

  /** Bytes that the optimizer moves for each parameter. */
  double optimizerBytes() {
    return optimizerBytes;
  }

  /** Whether tensor-parallel ranks send shares of a stage's output (SC 2021, §4.1). */
  boolean scattersTransfers() {
    return this == MEGATRON_2021 || this == MEGATRON_2022;
  }

  /** Whether sharding gradients alone (ZeRO-2) goes layer by layer, too. */
  boolean shardsGradientsByLayer() {
    return this == MPT || this == LLM_FOUNDRY;
  }

  /**
   * Whether ZeRO 2 and 3 shard again after every pass of a pipeline by default. PyTorch's FSDP does
   * not (torchtitan's {@code fsdp_reshard_after_forward = "default"}; {@code PipelineStage}
   * synchronizes gradients in the last micro-batch alone); Megatron-FSDP and XLA do.
   */
  public boolean reshards() {
    return !lineage().equals("torch");
  }

  /** How context-parallel ranks exchange keys and values by default. */
  ContextExchange contextExchange() {
    return switch (lineage()) {
      case "torch", "xla" -> ContextExchange.ALL_GATHER;
      default -> ContextExchange.RING;
    };
  }

  /** Frameworks with kernels of one kind, for constants that they share. */
  String lineage() {
    return switch (this) {
      case MEGATRON_DEEPSPEED, MEGATRON_2021, MEGATRON_2022 -> "megatron";
      case PAXML, MAXTEXT -> "xla";
      case NEMO, MEGATRON_BRIDGE, PRIMUS -> "mcore";
      case MPT, LLM_FOUNDRY, FMS_FSDP, TORCHTITAN, NEMO_AUTOMODEL -> "torch";
    };
  }

  /** The core whose constants apply. */
  String core() {
    return switch (this) {
      case PAXML, MAXTEXT -> "xla";
      case NEMO, MEGATRON_BRIDGE, PRIMUS -> "mcore";
      default -> word();
    };
  }
}
