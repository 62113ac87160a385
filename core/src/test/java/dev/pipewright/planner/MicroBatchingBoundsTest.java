package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What stages recompute at least, against every stage of every pipeline that fits. */
class MicroBatchingBoundsTest {
  private static final List<PipelinePolicy> POLICIES =
      List.of(PipelinePolicy.A, PipelinePolicy.B, PipelinePolicy.ALL);

  /** Stages of small chains; those that recompute are counted. */
  private static final class Stages {
    private final StageCosts costs;
    private final MicroBatching batching;
    private final PipelinePolicy policy;
    private final Recomputation recomputation;
    private final SelectiveRecomputation selective;
    private final MicroBatchingBounds bounds;
    private final double capacity;
    private int again;

    Stages(long seed, Recomputation recomputation) {
      SplittableRandom random = new SplittableRandom(seed);
      this.batching = new MicroBatching(1, random.nextInt(1, 5), random.nextInt(1, 9));
      int batch = batching.samples() * batching.microBatches();
      this.costs = Samples.costs(random, Samples.chain(random.nextInt(2, 8)), batch);
      this.capacity = costs.workload().cluster().mostMemory().value();
      this.policy = POLICIES.get(random.nextInt(POLICIES.size()));
      this.recomputation = recomputation;
      this.selective =
          SelectiveRecomputation.of(costs, costs, Recomputation.SELECTIVE).orElseThrow();
      int[] counts = PlacementSpace.allCounts(costs.workload().cluster(), 1);
      this.bounds =
          new MicroBatchingBounds(
              costs,
              batching,
              new PlacementSpace(costs.workload().cluster(), 1, counts, true),
              recomputation,
              recomputation == Recomputation.SELECTIVE ? selective : null,
              List.of(policy));
    }

    /** Checks the stages that end here, and all before those that fit. */
    void check(int end, int behind) {
      for (int first = 0; first < end; first++) {
        boolean fits = false;
        for (int devices = 1; devices <= costs.workload().cluster().size(); devices++) {
          double seconds = seconds(first, end, behind, devices) * costs.fastest();
          double least = bounds.again(first, end, devices);
          assertTrue(least <= seconds * (1 + 1e-9), least + " > " + seconds);
          fits |= Double.isFinite(seconds);
          again += Double.isFinite(seconds) && least > 0 ? 1 : 0;
        }
        if (fits) {
          assertTrue(bounds.earliest(end) <= first);
          check(first, behind + 1);
        }
      }
    }

    /** In which a micro-batch is recomputed; infinite where the stage does not fit. */
    private double seconds(int first, int end, int behind, int devices) {
      int slice = StageCosts.slice(batching.samples(), devices);
      int held = policy.inFlightOf(behind, batching.microBatches());
      double room = capacity - costs.staticBytes(first, end) - costs.workingBytes(slice);
      TradeOffs tradeOffs = selective.tradeOffs(slice);
      if (recomputation == Recomputation.SELECTIVE) {
        return tradeOffs.extraSeconds(first, end, held, room);
      }
      boolean keeps = held * costs.heldBytes(first, end, slice) <= room;
      boolean fits =
          held * costs.inputBytes(first, slice) + costs.recomputedBytes(first, end, slice) <= room;
      if (keeps && !recomputation.always()) {
        return 0;
      }
      double[] forward = costs.forwardSeconds(slice);
      return fits && recomputation != Recomputation.NEVER
          ? forward[end] - forward[first]
          : Double.POSITIVE_INFINITY;
    }
  }

  @Test
  void noStageThatFitsRecomputesLess() {
    for (Recomputation recomputation :
        List.of(
            Recomputation.NEVER,
            Recomputation.ALWAYS,
            Recomputation.WHERE_NEEDED,
            Recomputation.SELECTIVE)) {
      int again = 0;
      for (int seed = 1; seed <= 200; seed++) {
        Stages stages = new Stages(seed, recomputation);
        stages.check(stages.costs.size(), 0);
        again += stages.again > 0 ? 1 : 0;
      }
      boolean enough = again >= 30 || recomputation == Recomputation.NEVER;
      assertTrue(enough, again + " with " + recomputation);
    }
  }
}
