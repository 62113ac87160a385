package dev.pipewright.planner;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.partition.BlockPartition;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.planner.partition.UniformLayers;
import dev.pipewright.planner.partition.UniformWeights;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * The pipelines that widely used programs make by default, which other planners are compared with:
 * one device for each stage, cut by a simple rule, on all devices. Where the network has too few
 * layers for that, as few copies of a shorter pipeline as do, neighbouring devices in one stage;
 * where the number of stages is given, as many copies as there are devices and samples for.
 */
public final class PlainPipeline {
  /** How the layers are shared out. */
  public enum Cut {
    /** Megatron-LM, and DeepSpeed's {@code uniform}: see {@link UniformLayers}. */
    UNIFORM_LAYERS("uniform-layers"),
    /** DeepSpeed's {@code parameters}: see {@link UniformWeights}. */
    UNIFORM_PARAMETERS("uniform-parameters"),
    /** torchgpipe's balance by measured time: see {@link BlockPartition}. */
    TORCHGPIPE("torchgpipe");

    private final String word;

    Cut(String word) {
      this.word = word;
    }

    /** The planner's name on the command line. */
    public String word() {
      return word;
    }

    public static Optional<Cut> find(String word) {
      return Arrays.stream(values()).filter(cut -> cut.word.equals(word)).findFirst();
    }
  }

  private final StageCosts costs;
  private final int copies; // 0 where there is no such pipeline
  private final List<StagePlan> stages;

  /**
   * Cuts the network.
   *
   * @param globalBatch which the copies of the pipeline share evenly
   */
  public PlainPipeline(Cut cut, StageCosts costs, int globalBatch) {
    this(cut, costs, globalBatch, 1, OptionalInt.empty());
  }

  private PlainPipeline(Cut cut, StageCosts costs, Request request) {
    this(cut, costs, request.globalBatch(), request.microBatch().orElse(1), request.stages());
  }

  private PlainPipeline(
      Cut cut, StageCosts costs, int globalBatch, int microBatch, OptionalInt count) {
    this.costs = costs;
    Chain chain = costs.workload().chain();
    int[] path = OnePath.positions(chain);
    int devices = costs.workload().cluster().size();
    this.copies =
        count.isPresent()
            ? copies(
                devices / count.getAsInt(),
                globalBatch / microBatch,
                path.length >= count.getAsInt())
            : IntStream.rangeClosed(1, devices)
                .filter(c -> devices % c == 0 && globalBatch % c == 0 && devices / c <= path.length)
                .findFirst()
                .orElse(0);
    this.stages =
        copies == 0 ? List.of() : stages(path, firsts(cut, path, count.orElse(devices / copies)));
  }

  private static int copies(int most, int microBatches, boolean enoughLayers) {
    int copies = enoughLayers ? most : 0;
    while (copies > 0 && microBatches % copies != 0) {
      copies--;
    }
    return copies;
  }

  private int[] firsts(Cut cut, int[] path, int count) {
    Chain chain = costs.workload().chain();
    Profile profile = costs.workload().profile();
    return switch (cut) {
      case UNIFORM_LAYERS -> UniformLayers.firsts(path.length, count);
      case UNIFORM_PARAMETERS ->
          UniformWeights.firsts(OnePath.weights(chain, path, profile.parameterBytes()), count);
      case TORCHGPIPE -> {
        int samples = profile.samples().get(0);
        double[] seconds = profile.seconds(Quantity.FORWARD, samples);
        double[] back = profile.seconds(Quantity.BACKWARD, samples);
        Arrays.setAll(seconds, layer -> seconds[layer] + back[layer]);
        yield BlockPartition.firsts(OnePath.weights(chain, path, seconds), count);
      }
    };
  }

  private List<StagePlan> stages(int[] path, int[] firsts) {
    List<StagePlan> made = new ArrayList<>();
    for (int s = 0; s < firsts.length; s++) {
      int next = s + 1 < firsts.length ? firsts[s + 1] : path.length;
      made.add(
          new StagePlan(
              firsts[s] == 0 ? 0 : path[firsts[s] - 1] + 1,
              path[next - 1],
              IntStream.range(s * copies, (s + 1) * copies).boxed().toList(),
              Recompute.NONE,
              1));
    }
    return made;
  }

  /** Copies of the pipeline; 0 where no number of them uses all devices evenly. */
  public int copies() {
    return copies;
  }

  /** Layers and devices of each stage; none where there are no copies. */
  public List<StagePlan> stages() {
    return stages;
  }

  /** The best micro-batch and schedule for it, as {@link SynchronousPlans} finds them. */
  public static Planning plan(
      Cut cut, StageCosts costs, Request request, Oracle decides, BooleanSupplier stop) {
    PlainPipeline plain = new PlainPipeline(cut, costs, request);
    return SynchronousPlans.best(
        cut.word(), costs, plain.stages, Math.max(1, plain.copies), request, decides, stop);
  }

  /** Why there is no plan, and what would help. */
  public static String sentence(Cut cut, StageCosts costs, Request request) {
    PlainPipeline plain = new PlainPipeline(cut, costs, request);
    int devices = costs.workload().cluster().size();
    if (plain.copies == 0 && request.stages().isPresent()) {
      return "the network has too few layers on one path for %d stages; ask for fewer"
          .formatted(request.stages().getAsInt());
    }
    if (plain.copies == 0) {
      return "no number of equal pipelines uses all %d devices for %d samples; take a global batch that %d divides"
          .formatted(devices, request.globalBatch(), devices);
    }
    int each = request.globalBatch() / plain.copies;
    if (request.microBatch().isPresent() && each % request.microBatch().getAsInt() != 0) {
      return "each of %d pipelines has %d samples, no whole number of micro-batches of %d; take one that divides them"
          .formatted(plain.copies, each, request.microBatch().getAsInt());
    }
    double bytes = SynchronousPlans.leastBytes(costs, plain.stages, plain.copies, request);
    return "cut by this rule, a device of the fullest stage has to hold %s; take such devices, or another planner"
        .formatted(Remedy.roundedUp(bytes));
  }
}
