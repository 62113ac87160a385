package dev.pipewright.predict.paradl;

/** What holds a strategy back: the categories of ParaDL's Table 6. */
public enum Bottleneck {
  GRADIENT_EXCHANGE("gradient-exchange"),
  LAYER_WISE_COMMUNICATION("layer-wise-communication"),
  POINT_TO_POINT("point-to-point"),
  CONGESTION("network-congestion"),
  MEMORY_REDUNDANCY("memory-redundancy"),
  MEMORY_STALLING("memory-stalling"),
  WEIGHT_UPDATE("weight-update"),
  WORKLOAD_BALANCE("workload-balance"),
  COMPUTE_REDUNDANCY("compute-redundancy"),
  SCALING("scaling-limit");

  private final String label;

  Bottleneck(String label) {
    this.label = label;
  }

  /** The name in JSON. */
  public String label() {
    return label;
  }
}
