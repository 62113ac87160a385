package dev.pipewright.plan;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.units.Check;
import java.util.HashSet;
import java.util.List;

/**
 * One stage of a pipeline.
 *
 * @param firstLayer its first position in the model's chain
 * @param lastLayer its last position, inclusive
 * @param devices all devices of the stage over all replicas of the pipeline: tensor-parallel groups
 *     of {@code parallelism.parts()} devices one after the other, each of which takes an equal
 *     slice of every micro-batch
 * @param parallelism how the devices of a group divide each layer
 * @param inFlight micro-batches whose activations it may hold at once
 * @param again the layers that are recomputed where that is selective, in order
 */
public record StagePlan(
    int firstLayer,
    int lastLayer,
    List<Integer> devices,
    Parallelism parallelism,
    Recompute recompute,
    int inFlight,
    List<LayerRange> again) {
  public StagePlan {
    devices = List.copyOf(devices);
    again = List.copyOf(again);
    Check.that(
        0 <= firstLayer && firstLayer <= lastLayer,
        "a stage runs from its first layer to its last: layers=[%d, %d]",
        firstLayer,
        lastLayer);
    Check.that(
        !devices.isEmpty(), "a stage needs a device: layers=[%d, %d]", firstLayer, lastLayer);
    Check.that(
        new HashSet<>(devices).size() == devices.size(),
        "a stage names a device twice: devices=%s",
        devices);
    Check.that(
        devices.size() % parallelism.parts() == 0,
        "a stage has whole tensor-parallel groups: devices=%d, parallelism=%s",
        devices.size(),
        parallelism);
    Check.that(inFlight >= 1, "a stage holds at least one micro-batch: in_flight=%d", inFlight);
    Check.that(
        again.isEmpty() != (recompute == Recompute.SELECTIVE),
        "layers to compute again belong to selective recomputation: recompute=%s, again=%s",
        recompute.word(),
        again);
    int next = firstLayer;
    for (LayerRange run : again) {
      Check.that(
          next <= run.first() && run.last() <= lastLayer,
          "layers to compute again are in order and of the stage: layers=[%d, %d], again=%s",
          firstLayer,
          lastLayer,
          again);
      next = run.last() + 1;
    }
  }

  /** A stage whose devices compute whole layers. */
  public StagePlan(
      int firstLayer,
      int lastLayer,
      List<Integer> devices,
      Recompute recompute,
      int inFlight,
      List<LayerRange> again) {
    this(firstLayer, lastLayer, devices, Parallelism.NONE, recompute, inFlight, again);
  }

  /** The same that keeps all or nothing. */
  public StagePlan(
      int firstLayer, int lastLayer, List<Integer> devices, Recompute recompute, int inFlight) {
    this(firstLayer, lastLayer, devices, recompute, inFlight, List.of());
  }

  /** The same stage, recomputing these layers: none, some or all. */
  public StagePlan selective(List<LayerRange> runs) {
    if (runs.equals(List.of(new LayerRange(firstLayer, lastLayer)))) {
      return with(Recompute.STAGE_INPUT);
    }
    Recompute kind = runs.isEmpty() ? Recompute.NONE : Recompute.SELECTIVE;
    return new StagePlan(firstLayer, lastLayer, devices, parallelism, kind, inFlight, runs);
  }

  /** The same stage, recomputing as a whole, or not at all. */
  public StagePlan with(Recompute whole) {
    return new StagePlan(firstLayer, lastLayer, devices, parallelism, whole, inFlight, List.of());
  }

  /** The same stage with so many micro-batches in flight. */
  public StagePlan holding(int microBatches) {
    return new StagePlan(
        firstLayer, lastLayer, devices, parallelism, recompute, microBatches, again);
  }

  /** The same stage, whose devices divide each layer so. */
  public StagePlan with(Parallelism other) {
    return new StagePlan(firstLayer, lastLayer, devices, other, recompute, inFlight, again);
  }

  /** Tensor-parallel groups, or single devices, that share each micro-batch. */
  public int replicas() {
    return devices.size() / parallelism.parts();
  }

  /** Layers that are recomputed, whether by choice or with the whole stage; in order. */
  public List<LayerRange> recomputed() {
    return recompute.wholeStage() ? List.of(new LayerRange(firstLayer, lastLayer)) : again;
  }

  /** {@code [0..29]×8}, {@code [30..54]×8t4}: layers, devices, {@link Parallelism#degree}. */
  public String summary() {
    return "[%d..%d]×%d%s".formatted(firstLayer, lastLayer, devices.size(), parallelism.degree());
  }
}
