package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LiteralAntichains;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/**
 * The score of DAPPLE's program by its formulas as they are written, from layers and sets of
 * devices: on branched networks, with replicated pipelines, other micro-batches than the profile's
 * and clusters of every shape.
 */
class DappleRepoFormulaTest {
  private static final double ETHERNET = 1e9;
  private static final double ETHERNET_COLLECTIVE = 3e9;
  private static final double NVLINK = 25e9;

  /** A plan with what its score needs. */
  private record Case(StageCosts costs, PipelinePlan plan, int globalBatch) {
    static Case of(long seed) {
      var random = new SplittableRandom(seed);
      LayerGraph graph =
          random.nextInt(4) == 0 ? Samples.chain(random.nextInt(1, 8)) : Samples.branching(random);
      int[][] shapes = {{8, 2}, {4, 3}, {1, 8}, {2, 4}, {6, 2}, {8, 1}, {3, 4}};
      int[] shape = shapes[random.nextInt(shapes.length)];
      List<Level> levels =
          List.of(
              new Level("nvlink", Link.of(0, NVLINK), Link.of(0, NVLINK)),
              new Level("ethernet", Link.of(0, ETHERNET), Link.of(0, ETHERNET_COLLECTIVE)));
      Cluster cluster = Cluster.uniform("c", Samples.kind("k", 1L << 60, 1e12), levels, shape);
      var workload =
          new Workload(
              Chain.of(graph),
              Samples.profile(random, graph.size()),
              new Training(Optimizer.SGD, Precision.FP32),
              cluster);
      PipelinePlan plan = plan(random, workload);
      int samples = plan.microBatching(); // that micro-batches may leave over
      int over = random.nextBoolean() ? random.nextInt(samples) : 0;
      return new Case(new StageCosts(workload), plan, Math.toIntExact(plan.globalBatch()) + over);
    }

    double score() {
      return new DappleRepoOracle(costs, globalBatch).assess(plan).stepSeconds();
    }

    private static PipelinePlan plan(SplittableRandom random, Workload workload) {
      int devices = workload.cluster().size();
      int copies = random.nextInt(1, 5);
      List<Integer> free = new ArrayList<>(IntStream.range(0, devices).boxed().toList());
      if (random.nextBoolean()) {
        Collections.shuffle(free, new Random(random.nextLong()));
      }
      List<StagePlan> stages = new ArrayList<>();
      Chain chain = workload.chain();
      int first = 0;
      while (first < chain.size()) {
        int last = chain.size() - 1;
        boolean more = free.size() >= 2 * copies && random.nextInt(5) > 0;
        for (int tries = 0; more && tries < 4; tries++) {
          int next = random.nextInt(first, chain.size());
          boolean follows = first == 0 || chain.precedes(first - 1, next);
          last = follows && chain.precedes(next, chain.size() - 1) ? next : last;
        }
        int most = free.size() / copies - (last < chain.size() - 1 ? 1 : 0);
        int count = copies * random.nextInt(1, most + 1);
        List<Integer> taken = new ArrayList<>(free.subList(0, count));
        free.subList(0, count).clear();
        stages.add(new StagePlan(first, last, taken, Recompute.NONE, 1));
        first = last + 1;
      }
      return new PipelinePlan(
          PipelinePolicy.A, random.nextInt(1, 17), random.nextInt(1, 9), copies, false, stages);
    }

    boolean spans(List<Integer> devices) {
      return devices.stream().map(costs.workload().cluster()::machine).distinct().count() > 1;
    }

    double allReduce(List<Integer> g, double bytes) {
      int n = g.size();
      if (n == 1) {
        return 0;
      }
      double volume = 2 * bytes * (n - 1) / n;
      return spans(g) ? volume / ETHERNET_COLLECTIVE : volume / NVLINK / Math.floorDiv(n, 2);
    }

    double send(List<Integer> f, List<Integer> t, double bytes) {
      Cluster cluster = costs.workload().cluster();
      if (spans(t)) {
        List<Integer> union = new ArrayList<>(f);
        union.addAll(t);
        return spans(union) ? bytes / ETHERNET_COLLECTIVE : bytes / NVLINK;
      }
      long senders =
          f.stream().filter(d -> cluster.machine(d) != cluster.machine(t.get(0))).count();
      return senders > 0 ? bytes / f.size() * senders / ETHERNET : bytes / NVLINK;
    }

    /** L of the program for the global batch that the plan processes. */
    double latency() {
      Chain chain = costs.workload().chain();
      Profile profile = costs.workload().profile();
      int profileBatch = profile.samples().get(0);
      int rp = plan.replicas();
      int gbs = globalBatch;
      double scale = (double) gbs / profileBatch;
      double[] forward = profile.seconds(Quantity.FORWARD, profileBatch);
      double[] backward = profile.seconds(Quantity.BACKWARD, profileBatch);
      double[] crossing = LiteralAntichains.crossing(chain, profile.outputBytes());
      int microBatches = gbs / rp / plan.microBatch();
      int n = chain.size();
      double slowest = 0;
      double cuts = 0;
      List<Double> reduced = new ArrayList<>();
      for (int i = 0; i < plan.stages().size(); i++) {
        StagePlan stage = plan.stages().get(i);
        int start = stage.firstLayer();
        int end = stage.lastLayer() + 1; // exclusive
        double compute = 0;
        for (int layer : chain.layers(start - 1, end - 1)) {
          compute += (forward[layer] + backward[layer]) * scale;
        }
        slowest = Math.max(slowest, compute / stage.devices().size());
        double parameters = 0;
        for (int layer : chain.layers(-1, Math.min(end, n - 1))) { // inclusive
          parameters += profile.parameterBytes()[layer];
        }
        for (int layer : start == 0 ? new int[0] : chain.layers(-1, start - 1)) {
          parameters -= profile.parameterBytes()[layer];
        }
        reduced.add(allReduce(stage.devices(), parameters));
        if (end < n) {
          List<Integer> next = plan.stages().get(i + 1).devices();
          double bytes = crossing[end - 1] * gbs; // activations of the graph are of one sample here
          slowest = Math.max(slowest, send(stage.devices(), next, bytes));
          cuts += send(stage.devices(), next, bytes / rp / microBatches);
        }
      }
      double all = 0;
      for (int layer = 0; layer < forward.length; layer++) {
        all += (forward[layer] + backward[layer]) * scale;
      }
      double each = slowest / microBatches;
      double tail = 0;
      for (int i = 0; i < reduced.size(); i++) {
        tail = Math.max(tail, reduced.get(i) - i * each);
      }
      return each * (microBatches - 1) + all / rp / microBatches + cuts + tail;
    }
  }

  @RepeatedTest(500)
  void theScoreIsThatOfTheFormulas(RepetitionInfo seed) {
    Case one = Case.of(seed.getCurrentRepetition());
    double score = one.score();
    assertEquals(one.latency(), score, 1e-12 * score, () -> one.plan.toString());
  }

  @Test
  void theCasesHaveCutsBetweenBranchesReplicasAndOtherBatches() {
    int between = 0;
    int replicated = 0;
    int otherBatch = 0;
    int leftOver = 0;
    for (int seed = 1; seed <= 500; seed++) {
      Case one = Case.of(seed);
      Chain chain = one.costs.workload().chain();
      double[] physical = chain.crossing(one.costs.workload().profile().outputBytes());
      double[] charged = new DappleRepoOracle(one.costs).cutBytes();
      List<StagePlan> stages = one.plan.stages();
      boolean more = false;
      for (StagePlan stage : stages.subList(0, stages.size() - 1)) {
        more |= charged[stage.lastLayer() + 1] > physical[stage.lastLayer()] * 1.001;
      }
      between += more ? 1 : 0;
      replicated += one.plan.replicas() > 1 && stages.size() == 2 ? 1 : 0;
      int profiled = one.costs.workload().profile().samples().get(0);
      leftOver += one.globalBatch % one.plan.microBatching() > 0 ? 1 : 0;
      otherBatch += profiled != one.plan.microBatch() ? 1 : 0;
    }
    String what =
        "%d between branches, %d replicated, %d of other batches, %d with samples left over"
            .formatted(between, replicated, otherBatch, leftOver);
    assertTrue(between >= 30 && replicated >= 50 && otherBatch >= 200 && leftOver >= 100, what);
  }
}
