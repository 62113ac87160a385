package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.GradientOverlap;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.execution.ProfilingOutcome.SumsInTraining;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Models;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** What steps with and without sums say of a machine is what the oracle then says of such steps. */
class MeasuredClusterTest {
  private static final int SAMPLES = 4;

  private static Cluster cluster(double achieved, double overlap) {
    FlopsPerSecond flops = new FlopsPerSecond(1e11);
    DeviceKind kind = new DeviceKind("any", new Bytes(1 << 30), flops, flops, rate(1e10));
    Link link = Link.of(0, 1e9);
    return Cluster.uniform("any", kind, List.of(new Level("all", link, link, 1, achieved)), 2)
        .withSoftware(Software.IDEAL.withOverlap(overlap));
  }

  private static BytesPerSecond rate(double bytes) {
    return new BytesPerSecond(bytes);
  }

  private static Workload workload(Cluster cluster) {
    LayerGraph graph = Models.find("mlp:layers=6,hidden=256,in=64,classes=8").orElseThrow().graph();
    Training training = new Training(Optimizer.MOMENTUM, Precision.FP32);
    return new Workload(
        Chain.of(graph),
        Roofline.profile(graph, cluster, training, List.of(SAMPLES)),
        training,
        cluster);
  }

  /** What the oracle says of sums, behind the backward pass and beside it. */
  private static double[] sums(Workload workload) {
    Collectives all = Collectives.achieved(workload.cluster(), new int[] {0, 1});
    double bytes = Arrays.stream(workload.profile().parameterBytes()).sum();
    StageCosts costs = new StageCosts(workload);
    double beside = GradientOverlap.exposedSeconds(costs, 0, costs.size(), SAMPLES, 1, all);
    return new double[] {all.allReduce(bytes), beside};
  }

  @RepeatedTest(value = 20, name = "seed {currentRepetition}")
  void bothSharesAreFoundAgain(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    double achieved = random.nextDouble(0.1, 1);
    double overlap = random.nextDouble();
    double[] seconds = sums(workload(cluster(achieved, overlap)));
    double alone = random.nextDouble();
    MessageOverhead overhead = new MessageOverhead(random.nextDouble(), random.nextDouble());
    SumsInTraining seen =
        new SumsInTraining(2, SAMPLES, alone, alone + seconds[0], alone + seconds[1]);
    Cluster found = MeasuredCluster.inTraining(workload(cluster(1, 1)), overhead, seen);
    assertEquals(achieved, found.levels().get(0).achieved(), 1e-9);
    assertEquals(overlap, found.software().overlap(), 1e-9);
    assertEquals(overhead, found.software().message());
  }

  @Test
  void stepsThatNoiseHasTurnedAroundSayNothing() {
    Workload workload = workload(cluster(1, 1));
    Cluster faster =
        MeasuredCluster.inTraining(
            workload, MessageOverhead.NONE, new SumsInTraining(2, SAMPLES, 2, 1, 1));
    assertEquals(1, faster.levels().get(0).achieved());
    assertEquals(0, faster.software().overlap());
    Cluster dearer =
        MeasuredCluster.inTraining(
            workload, MessageOverhead.NONE, new SumsInTraining(2, SAMPLES, 1, 2, 3));
    assertEquals(0, dearer.software().overlap());
  }
}
