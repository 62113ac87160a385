package dev.pipewright.predict.transformer;

import static dev.pipewright.predict.transformer.HandRuns.HIDDEN;
import static dev.pipewright.predict.transformer.HandRuns.predicted;
import static dev.pipewright.predict.transformer.HandRuns.run;
import static dev.pipewright.predict.transformer.HandRuns.same;
import static dev.pipewright.predict.transformer.HandRuns.shape;
import static dev.pipewright.predict.transformer.HandRuns.sharded;
import static dev.pipewright.predict.transformer.HandRuns.sizes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** States that data-parallel ranks shard, with numbers that a pencil can check. */
class ShardedByHandTest {
  @Test
  void stateHasEighteenBytesAndShardsDivideIt() {
    double matrices = 12.0 * HIDDEN * HIDDEN + 4 * HIDDEN;
    double ends = 2.0 * 51_200 * HIDDEN;
    double elements = 8 * matrices + ends;
    for (int zero = 0; zero <= 3; zero++) {
      TrainingLayout layout = new TrainingLayout(1, 1, 4, 1, 1, 1, 1, zero, 4, false, false, 8, 1);
      TransformerRun run = run(layout);
      double each = List.of(18.0, 6 + 12.0 / 4, 2 + 16.0 / 4, 18.0 / 4).get(zero);
      double gathered = zero < 2 ? 0 : 2 * (zero == 2 ? 4 : 2) * matrices;
      same(
          elements * each + gathered,
          new RankMemoryFormula(run, sizes(run)).ranks().get(0).state());
    }
  }

  @Test
  void aPipelineThatShardsOnceAStepTakesAndHoldsWhatZeroOneDoes() {
    TransformerPrediction one = predicted(sharded(4, 1, false));
    for (int zero = 2; zero <= 3; zero++) {
      TransformerPrediction once = predicted(sharded(4, zero, false));
      assertEquals(one.phases(), once.phases());
      assertEquals(one.ranks(), once.ranks());
    }
  }

  @Test
  void aPipelineThatShardsAfterEveryPassGathersAndReducesForEveryMicroBatch() {
    double layer = 12.0 * HIDDEN * HIDDEN;
    double table = 51_200.0 * HIDDEN;
    TransformerPrediction three = predicted(sharded(4, 3, true));
    double bytes = 18.0 / 4 * (2 * (layer + 4 * HIDDEN) + table);
    same(bytes + 2 * 2 * (layer + 4 * HIDDEN), three.ranks().get(0).state());
    // a share of 3/4 leaves each of four ranks at 100 GB/s, after a latency of two doublings
    double latency = 2;
    double gather = 2 * (2 * layer * 3 / 4 / 1e11 + latency);
    double scatter = gather; // gradients have 2 bytes, too
    double ends = 2 * table * 3 / 4 / 1e11 + latency;
    double each = 2 * gather + scatter + 2 * ends + 2 * (2 * layer * 3 / 4 / 1e11 + latency);
    // latencies of seconds exceed computation, which slows communication by all of itself
    same(8 * each, three.phases().sharding());
    same(0, three.phases().dataParallel());
    TransformerPrediction two = predicted(sharded(4, 2, true));
    same(
        (2 + 16.0 / 4) * (2 * (layer + 4 * HIDDEN) + table) + 2 * 4 * (layer + 4 * HIDDEN),
        two.ranks().get(0).state());
  }

  /** Latencies of seconds exceed computation, which slows communication by all of itself. */
  private static void gathersAndScatters(double layer, double ends, TransformerRun run) {
    double each = 8 * (2 + 1) * layer + 2 * ends + 2 * layer; // gradients have 2 bytes, too
    same(2 * each, predicted(run).phases().sharding());
  }

  @Test
  void shardGroupsOfTensorRanksShareTheNetworkOfTheirMachine() {
    TransformerRun run =
        run(new TrainingLayout(8, 1, 4, 1, 1, 1, 1, 3, 4, false, true, 8, 1)); // one on a machine
    double rate = 8 * 1e10 / 8; // of a machine's network, which serves eight groups
    double layer = 2 * 12.0 * HIDDEN * HIDDEN / 8 * 3 / 4 / rate + 2; // two doublings
    double ends = 2 * 2 * 51_200.0 * HIDDEN / 8 * 3 / 4 / rate + 2;
    gathersAndScatters(layer, ends, run);
  }

  @Test
  void expertsAreGatheredFromTheRanksThatHoldThem() {
    Mixture mixture =
        new Mixture(16, 4, new Dense(512, false, false), false, Optional.empty(), false);
    TrainingLayout layout = new TrainingLayout(1, 1, 16, 1, 1, 8, 1, 3, 16, false, false, 32, 1);
    TransformerRun run =
        run(shape(8, Optional.of(mixture)), layout, new RecomputePolicy.None(), true);
    double rest = 4.0 * HIDDEN * HIDDEN + 16.0 * HIDDEN; // attention and routing
    double experts = 16.0 / 8 * 2 * HIDDEN * 512;
    double all = 8 * 1e10; // the network of a machine, which one group has or eight share
    double layer = 2 * rest * 15 / 16 / all + 4 + 2 * experts / 2 / (all / 8) + 1;
    double ends = 2 * 2 * 51_200.0 * HIDDEN * 15 / 16 / all + 4;
    gathersAndScatters(layer, ends, run);
  }

  /** Experts have no more shards than a group of hybrid sharding has ranks that hold them. */
  @Test
  void copiesOfAShardGroupHoldTheSameExperts() {
    TrainingLayout whole = new TrainingLayout(1, 1, 32, 1, 1, 4, 1, 3, 32, false, false, 32, 1);
    assertEquals(8, whole.expertShards());
    TrainingLayout hybrid = new TrainingLayout(1, 1, 32, 1, 1, 4, 1, 3, 8, false, false, 32, 1);
    assertEquals(2, hybrid.expertShards());
  }

  @Test
  void zeroTwoReducesGradientsOfEveryMicroBatch() {
    TransformerRun run = sharded(1, 2, false);
    double elements = 8 * 12.0 * HIDDEN * HIDDEN + 2 * 51_200.0 * HIDDEN;
    double both = 15e-6 * 3 + 2 * 2 * elements * 3 / 4 / 1e11; // two halves of an all-reduce
    double hidden = predicted(run).phases().layers().total() / 8;
    double last = predicted(sharded(1, 1, false)).phases().dataParallel();
    assertTrue(hidden > both, "each is hidden but for its exposed share, which is all of it");
    same(last + 7 * both / 2, predicted(run).phases().dataParallel());
    same(both, last);
  }
}
