package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cluster.Software;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.profile.Profile;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Precision;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class MessageOverheadTest {
  private static final Link LINK = Link.of(1, 8);
  private static final int STAGES = 4;

  private static SplitConcat between(MessageOverhead overhead, int... to) {
    Cluster cluster = Samples.plain(List.of(LINK), 3);
    return SplitConcat.betweenPasses(
        cluster.withSoftware(Software.IDEAL.withMessage(overhead)), new int[] {0}, to);
  }

  @Test
  void whatBothEndsPayForIsNoPartOfTheMessage() {
    assertEquals(1 + 64 / 8.0, between(MessageOverhead.NONE, 1).seconds(64));
    // of nine seconds each end pays a quarter and a second
    assertEquals(9 - 2 * 1.25, between(new MessageOverhead(0.25, 1 / 64.0), 1).seconds(64));
    // each of two receivers has half of the bytes
    assertEquals(
        9 - 1.25 - 0.75, between(new MessageOverhead(0.25, 1 / 64.0), 1, 2).seconds(64), 1e-12);
    assertEquals(0, between(new MessageOverhead(1, 1), 1).seconds(64));
    assertEquals(0, new MessageOverhead(1, 1).of(0));
  }

  @Test
  void aStagePaysForItsTwoCuts() {
    StageCosts costs = costs(new SplittableRandom(1), new MessageOverhead(2, 3));
    double[] cut = costs.cutBytes();
    assertEquals(0, costs.messageSeconds(0, STAGES, 5));
    assertEquals(2 + 3 * 5 * cut[1], costs.messageSeconds(0, 1, 5), 1e-9 * cut[1]);
    assertEquals(
        4 + 3 * 5 * (cut[1] + cut[2]), costs.messageSeconds(1, 2, 5), 1e-9 * (cut[1] + cut[2]));
  }

  /** A micro-batch alone waits for whole messages; among others its stages are at work longer. */
  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void theWayOfAMicroBatchIsAsLongAndStagesAreBusyLonger(RepetitionInfo seed) {
    long number = seed.getCurrentRepetition();
    double perMessage = new SplittableRandom(number).nextDouble(1e-3);
    MessageOverhead some = new MessageOverhead(perMessage, 1e-9);
    StageCosts plain = costs(new SplittableRandom(number), MessageOverhead.NONE);
    StageCosts loaded = costs(new SplittableRandom(number), some);
    Assessment before = assess(plain, 1);
    assertEquals(
        before.stepSeconds(), assess(loaded, 1).stepSeconds(), 1e-9 * before.stepSeconds());
    int many = 64;
    double longer = assess(loaded, many).stepSeconds() - assess(plain, many).stepSeconds();
    double least = 2 * (many - STAGES) * perMessage; // of the longest stage, which has a cut
    assertTrue(longer >= least * (1 - 1e-9), longer + " < " + least);
  }

  /** A micro-batch costs the same whether steps end or flow. */
  @RepeatedTest(value = 20, name = "seed {currentRepetition}")
  void asynchronousStagesPayAsOthersDo(RepetitionInfo seed) {
    StageCosts costs =
        costs(new SplittableRandom(seed.getCurrentRepetition()), new MessageOverhead(1e-3, 1e-9));
    AsynchronousPlan plan =
        new AsynchronousPlan(AsynchronousPlan.Rule.PIPEDREAM, STAGES, 1, 1, stages());
    int[] devices = IntStream.range(0, STAGES).toArray();
    OpTimes times = new AsynchronousCosts(costs, plan).times(Placement.straight(STAGES), devices);
    List<StageCost> others = assess(costs, STAGES).stages();
    for (int stage = 0; stage < STAGES; stage++) {
      StageCost other = others.get(stage);
      assertEquals(other.forwardSeconds(), times.forward()[stage], 1e-12);
      assertEquals(other.backwardSeconds(), times.input()[stage] + times.weight()[stage], 1e-12);
      assertEquals(other.sendSeconds(), times.there()[stage], 1e-12);
      assertEquals(other.returnSeconds(), times.back()[stage], 1e-12);
    }
  }

  private static List<StagePlan> stages() {
    return IntStream.range(0, STAGES)
        .mapToObj(s -> new StagePlan(s, s, List.of(s), Recompute.NONE, STAGES - s))
        .toList();
  }

  private static Assessment assess(StageCosts costs, int microBatches) {
    PipelinePlan plan = new PipelinePlan(PipelinePolicy.A, microBatches, 1, 1, false, stages());
    return CostModel.PIPEWRIGHT.oracle(costs).assess(plan);
  }

  /** A stage for each layer; links that take longer than what ends pay. */
  private static StageCosts costs(SplittableRandom random, MessageOverhead overhead) {
    Cluster cluster = Samples.plain(List.of(Link.of(2e-3, 1e8)), STAGES);
    Profile profile = Samples.profile(random, STAGES);
    Training training = new Training(Optimizer.SGD, Precision.FP32);
    return new StageCosts(
        new Workload(
            Chain.of(Samples.chain(STAGES)),
            profile,
            training,
            cluster.withSoftware(Software.IDEAL.withMessage(overhead))));
  }
}
