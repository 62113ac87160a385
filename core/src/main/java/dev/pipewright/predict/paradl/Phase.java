package dev.pipewright.predict.paradl;

/** A part of a training iteration (ParaDL §2.1: FB, GE, WU, and what FB communicates). */
public enum Phase {
  /** Forward and backward arithmetic. */
  FORWARD_BACKWARD("forward_backward_s", "forward + backward", false),
  /** Waiting for the other stages of a pipeline, for slower devices. */
  WAITING("waiting_s", "waiting", false),
  /** The optimizer's step. */
  WEIGHT_UPDATE("weight_update_s", "weight update", false),
  /** FB-Allgather: activations or their gradients, layer by layer; weights of ZeRO-3. */
  LAYER_ALL_GATHER("layer_allgather_s", "layer all-gather", true),
  /** FB-Allreduce: activations or their gradients, layer by layer. */
  LAYER_ALL_REDUCE("layer_allreduce_s", "layer all-reduce", true),
  /** FB-Halo: borders of split feature maps. */
  HALO("halo_s", "halo exchange", true),
  /** FB-layer: activations between the stages of a pipeline. */
  POINT_TO_POINT("point_to_point_s", "point to point", true),
  /** GE-Allreduce. */
  GRADIENT_EXCHANGE("gradient_allreduce_s", "gradient all-reduce", true);

  private final String key;
  private final String label;
  private final boolean communication;

  Phase(String key, String label, boolean communication) {
    this.key = key;
    this.label = label;
    this.communication = communication;
  }

  /** The name in JSON; its value is seconds. */
  public String key() {
    return key;
  }

  public String label() {
    return label;
  }

  public boolean communication() {
    return communication;
  }
}
