package dev.pipewright.predict.paradl;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.ParallelismLimits;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The dimensions along which the devices share the work (ParaDL §3; ZeRO: SC 2020). */
public enum Strategy {
  SERIAL("serial", Split.NOTHING, false, false),
  DATA("data", Split.NOTHING, false, true),
  SPATIAL("spatial", Split.POSITIONS, false, false),
  PIPELINE("pipeline", Split.NOTHING, true, false),
  FILTER("filter", Split.FILTERS, false, false),
  CHANNEL("channel", Split.CHANNELS, false, false),
  /** Heads and MLP features of transformer blocks (Megatron-LM). */
  TENSOR("tensor", Split.HEADS, false, false),
  /** The same, with sequence parallelism between their products (Korthikanti et al. §4.2.2). */
  SEQUENCE("sequence", Split.SEQUENCES, false, false),
  /** Tokens of each sample; attention gathers keys and values of all. */
  CONTEXT("context", Split.TOKENS, false, false),
  /** The experts of mixtures, and samples, or tokens where there are too few samples. */
  EXPERT("expert", Split.EXPERTS, false, false),
  DATA_FILTER("data+filter", Split.FILTERS, false, true),
  DATA_CHANNEL("data+channel", Split.CHANNELS, false, true),
  DATA_SPATIAL("data+spatial", Split.POSITIONS, false, true),
  DATA_PIPELINE("data+pipeline", Split.NOTHING, true, true),
  DATA_TENSOR("data+tensor", Split.HEADS, false, true),
  DATA_SEQUENCE("data+sequence", Split.SEQUENCES, false, true),
  DATA_CONTEXT("data+context", Split.TOKENS, false, true),
  DATA_EXPERT("data+expert", Split.EXPERTS, false, true),
  DATA_TENSOR_PIPELINE("data+tensor+pipeline", Split.HEADS, true, true),
  DATA_SEQUENCE_PIPELINE("data+sequence+pipeline", Split.SEQUENCES, true, true),
  /** Data parallelism that shards the optimizer's state. */
  ZERO1("zero1", Split.NOTHING, false, true),
  /** … and the gradients. */
  ZERO2("zero2", Split.NOTHING, false, true),
  /** … and the weights. */
  ZERO3("zero3", Split.NOTHING, false, true);

  /** What the devices that compute a layer together divide. */
  public enum Split {
    NOTHING,
    /** Output channels of each layer. */
    FILTERS,
    /** Input channels of each layer. */
    CHANNELS,
    /** Width, height, depth of the feature maps. */
    POSITIONS,
    /** Heads and MLP features of transformer blocks. */
    HEADS,
    /** These, and the tokens where a block works on each by itself. */
    SEQUENCES,
    /** The tokens of each sample. */
    TOKENS,
    /** The experts of mixtures, and samples or tokens. */
    EXPERTS
  }

  private final String label;
  private final Split split;
  private final boolean pipelined;
  private final boolean replicates;

  Strategy(String label, Split split, boolean pipelined, boolean replicates) {
    this.label = label;
    this.split = split;
    this.pipelined = pipelined;
    this.replicates = replicates;
  }

  /** The name on the command line. */
  public String label() {
    return label;
  }

  /** What the devices that compute a layer together divide. */
  public Split split() {
    return split;
  }

  /** Whether a group has a stage of consecutive layers on each of its devices, or several. */
  public boolean pipelined() {
    return pipelined;
  }

  /** Whether transformer blocks are divided. */
  public boolean dividesBlocks() {
    return dividesFeatures() || split == Split.TOKENS || split == Split.EXPERTS;
  }

  /** Whether transformer blocks are divided by heads and MLP features: tensor parallelism. */
  public boolean dividesFeatures() {
    return split == Split.HEADS || split == Split.SEQUENCES;
  }

  /** Whether the batch may be cut into micro-batches. */
  boolean accumulates() {
    return pipelined || dividesBlocks();
  }

  /** Whether groups (or devices) work on different samples. */
  public boolean replicates() {
    return replicates;
  }

  /** Whether both the samples and the network are divided. */
  public boolean hybrid() {
    return replicates && (pipelined || split != Split.NOTHING);
  }

  /** How much of the training state is sharded: 0 (nothing) to 3 (also the weights). */
  public int zeroStage() {
    return switch (this) {
      case ZERO1 -> 1;
      case ZERO2 -> 2;
      case ZERO3 -> 3;
      default -> 0;
    };
  }

  /**
   * The strategies that a table of a network shows: all, but context and expert parallelism where
   * it has tokens and experts only.
   *
   * @param published whether Table 3 prices them, which has neither
   */
  public static List<Strategy> of(LayerGraph graph, boolean published) {
    ParallelismLimits limits = new ParallelismLimits(graph);
    boolean tokens = !published && limits.refusal(Parallelism.of(Kind.CONTEXT, 2)).isEmpty();
    boolean experts = !published && limits.refusal(Parallelism.of(Kind.EXPERT, 2)).isEmpty();
    return Arrays.stream(values())
        .filter(strategy ->
            switch (strategy.split) {
              case TOKENS -> tokens;
              case EXPERTS -> experts;
              default -> true;
            })
        .toList();
  }

  public static List<String> labels() {
    return Arrays.stream(values()).map(Strategy::label).toList();
  }

  /** The strategy with this label. */
  public static Optional<Strategy> find(String label) {
    return Arrays.stream(values()).filter(s -> s.label.equals(label)).findFirst();
  }

  @Override
  public String toString() {
    return label;
  }
}
