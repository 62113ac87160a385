package dev.pipewright.predict.paradl;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The dimensions along which the devices share the work (ParaDL §3; ZeRO: SC 2020). */
public enum Strategy {
  SERIAL("serial", Split.NOTHING, false),
  DATA("data", Split.NOTHING, true),
  SPATIAL("spatial", Split.POSITIONS, false),
  PIPELINE("pipeline", Split.LAYERS, false),
  FILTER("filter", Split.FILTERS, false),
  CHANNEL("channel", Split.CHANNELS, false),
  DATA_FILTER("data+filter", Split.FILTERS, true),
  DATA_CHANNEL("data+channel", Split.CHANNELS, true),
  DATA_SPATIAL("data+spatial", Split.POSITIONS, true),
  DATA_PIPELINE("data+pipeline", Split.LAYERS, true),
  /** Data parallelism that shares out the optimizer's state. */
  ZERO1("zero1", Split.NOTHING, true),
  /** … and the gradients. */
  ZERO2("zero2", Split.NOTHING, true),
  /** … and the weights. */
  ZERO3("zero3", Split.NOTHING, true);

  /** What the devices of one group share out between them. */
  public enum Split {
    NOTHING,
    /** Output channels of each layer. */
    FILTERS,
    /** Input channels of each layer. */
    CHANNELS,
    /** Width, height, depth of the feature maps. */
    POSITIONS,
    /** Consecutive layers. */
    LAYERS
  }

  private final String label;
  private final Split split;
  private final boolean replicates;

  Strategy(String label, Split split, boolean replicates) {
    this.label = label;
    this.split = split;
    this.replicates = replicates;
  }

  /** The name on the command line. */
  public String label() {
    return label;
  }

  /** What a group of devices shares out. */
  public Split split() {
    return split;
  }

  /** Whether groups (or devices) work on different samples. */
  public boolean replicates() {
    return replicates;
  }

  /** Whether both the samples and the network are shared out. */
  public boolean hybrid() {
    return replicates && split != Split.NOTHING;
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
