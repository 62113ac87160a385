package dev.pipewright.predict.run;

import dev.pipewright.cost.PartlyKept;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.exchange.Segment;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.function.ToDoubleFunction;

/**
 * What a worker needs of memory for one micro-batch's slice of a stage, layer by layer; bytes. The
 * backward pass comes from the last layer to the first, and what later layers kept is gone by then.
 */
final class StageNeeds {
  private final double[] kept; // by layer of the stage, in order
  private final double[] outputs;
  private final double[] gradients; // of parameters
  private final double[] forward; // beyond what is kept
  private final double[] backward; // likewise
  private final double[] deferred;
  private final double input;
  private final double samples; // which the stage reads where the network begins
  private final int stays; // the output, while the backward pass is at this layer or a later one
  private final boolean last;
  private final Recompute recompute;
  private final PartlyKept selected; // of a stage that computes some of its layers again

  /**
   * @param segments of the stage; what each hands on is freed when the backward pass has left it
   * @param inTwoParts whether the gradients of inputs and of parameters are computed apart
   * @param fromElsewhere whether what the stage reads comes from another worker
   */
  StageNeeds(
      StageCosts costs,
      StageLayers stage,
      List<Segment> segments,
      int slice,
      boolean inTwoParts,
      boolean fromElsewhere,
      boolean last) {
    Profile profile = costs.workload().profile();
    LayerRange range = stage.range();
    int[] layers = layers(costs, range);
    List<LayerMemory> memory = profile.memoryOf(slice);
    double[] alone = of(layers, layer -> profile.sizes(layer).kept() * slice);
    this.kept = inTwoParts ? of(layers, memory, LayerMemory::splitKept) : alone;
    this.outputs = of(layers, layer -> profile.sizes(layer).output() * slice);
    this.gradients = of(layers, layer -> profile.sizes(layer).parameters());
    this.forward = of(layers, memory, LayerMemory::forward);
    for (int layer = 0; layer < layers.length; layer++) { // what is kept in addition is among it
      forward[layer] = Math.max(0, forward[layer] - Math.max(0, kept[layer] - alone[layer]));
    }
    this.backward = of(layers, memory, LayerMemory::backward);
    this.deferred = of(layers, memory, LayerMemory::deferred);
    this.input = fromElsewhere ? costs.inputBytes(range.first(), slice) : 0;
    this.samples = samples(costs, layers, alone);
    this.stays = first(layers, layers(costs, segments.getLast().range()));
    this.last = last;
    this.recompute = stage.recompute();
    List<LayerRange> again =
        stage.again().stream()
            .map(run -> new LayerRange(run.first() - range.first(), run.last() - range.first()))
            .toList();
    this.selected = PartlyKept.of(costs.layers(range.first(), range.last() + 1, slice), again);
  }

  /** The layers of the graph that a stage has, each after those that it reads. */
  static int[] layers(StageCosts costs, LayerRange range) {
    Chain chain = costs.workload().chain();
    return chain.graph().topological(chain.layers(range.first() - 1, range.last()));
  }

  /** The first that is one of some. */
  private static int first(int[] layers, int[] some) {
    int first = 0;
    while (layers[first] != some[0]) {
      first++;
    }
    return first;
  }

  private static double samples(StageCosts costs, int[] layers, double[] kept) {
    double bytes = 0;
    for (int i = 0; i < layers.length; i++) {
      boolean reads = costs.workload().chain().graph().predecessors(layers[i]).length == 0;
      bytes += reads ? kept[i] : 0;
    }
    return bytes;
  }

  private static double[] of(int[] layers, IntToDoubleFunction figure) {
    return Arrays.stream(layers).mapToDouble(figure).toArray();
  }

  private static double[] of(
      int[] layers, List<LayerMemory> memory, ToDoubleFunction<LayerMemory> figure) {
    return of(layers, layer -> figure.applyAsDouble(memory.get(layer)));
  }

  private static double sum(double[] bytes) {
    return Arrays.stream(bytes).sum();
  }

  /** What is held from the forward pass to the end of the backward pass. */
  double held() {
    return switch (recompute) {
      case NONE -> whole();
      case EXCEPT_LAST -> throw new IllegalStateException("no micro-batch is treated so");
      case STAGE_INPUT -> input + samples;
      case SELECTIVE -> selected.heldBytes();
    };
  }

  /** What recomputation adds to it for the backward pass. */
  double recomputed() {
    return switch (recompute) {
      case NONE, EXCEPT_LAST -> 0;
      case STAGE_INPUT -> whole() - input - samples;
      case SELECTIVE -> selected.workingBytes();
    };
  }

  /** The input, all that layers keep, and the last one's output where none of them keeps it. */
  private double whole() {
    int end = kept.length - 1;
    return input + sum(kept) + Math.max(0, outputs[end] - kept[end]);
  }

  /** What the network's last stage holds from its forward to its backward pass: the loss's. */
  double lossGradient() {
    return last ? outputs[outputs.length - 1] : 0;
  }

  /** Of a micro-batch's outputs, from the first part of a backward pass to the second. */
  double deferred() {
    return sum(deferred);
  }

  /**
   * The most that the forward pass needs beyond what is held behind it.
   *
   * @param beside bytes of other things while a layer computes
   */
  double forward(IntToDoubleFunction beside) {
    double before = 0;
    double all = recompute == Recompute.STAGE_INPUT ? samples : whole() - input;
    double most = 0;
    for (int layer = 0; layer < kept.length; layer++) {
      before = recompute == Recompute.STAGE_INPUT ? samples + kept[layer] : before + kept[layer];
      most = Math.max(most, before - all + forward[layer] + beside.applyAsDouble(layer));
    }
    return most;
  }

  /**
   * The most that the whole backward pass needs beyond what is held before it, recomputation
   * included. The stage's output stays until its segment is left.
   *
   * @param beside bytes of other things while a layer computes
   * @param leaving the same when the pass has just left it
   */
  double backward(IntToDoubleFunction beside, IntToDoubleFunction leaving) {
    int end = kept.length - 1;
    double before = 0;
    double all = whole() - input;
    double most = 0;
    for (int layer = 0; layer <= end; layer++) {
      double left = before - all + (layer == 0 ? 0 : outputs[layer - 1]) + outputs[end];
      most = Math.max(most, left + leaving.applyAsDouble(layer));
      before += kept[layer];
      double output = layer < stays ? 0 : outputs[end];
      double held = layer == end ? 0 : before + output - all;
      most = Math.max(most, held + withGradient(layer) + beside.applyAsDouble(layer));
    }
    return most;
  }

  /** The same of the gradients of inputs alone; everything is held beyond them. */
  double inputPart(IntToDoubleFunction beside) {
    double ahead = deferred();
    double most = 0;
    for (int layer = 0; layer < kept.length; layer++) {
      ahead -= deferred[layer];
      most = Math.max(most, ahead + withGradient(layer) + beside.applyAsDouble(layer));
    }
    return Math.max(most, deferred());
  }

  /**
   * What the backward pass of a layer needs with the gradient of the stage's output, which is there
   * until the pass is over; between layers gradients are freed when used.
   */
  private double withGradient(int layer) {
    int end = outputs.length - 1;
    return layer < end ? backward[layer] + outputs[end] : Math.max(backward[end], outputs[end]);
  }

  /** The same of the gradients of parameters alone. */
  double weightPart(IntToDoubleFunction beside) {
    double most = 0;
    for (int layer = 0; layer < kept.length; layer++) {
      if (gradients[layer] > 0) {
        double own = Math.max(0, backward[layer] - outputs[layer]);
        most = Math.max(most, own + beside.applyAsDouble(layer));
      }
    }
    return most;
  }
}
