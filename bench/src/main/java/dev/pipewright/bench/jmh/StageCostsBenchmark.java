package dev.pipewright.bench.jmh;

import dev.pipewright.bench.dapple.GivenPlans;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What pricing costs: preparing a network, assessing a plan, asking for a stage. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StageCostsBenchmark {
  private static final int SLICE = 2;

  private final StageCosts costs = Networks.zoo("bert-48", Networks.cluster("dapple-a"), 64);
  private final Workload workload = costs.workload();
  private final Oracle oracle = CostModel.PIPEWRIGHT.oracle(costs);
  private final PipelinePlan plan =
      new GivenPlans(costs)
          .plan(
              new int[] {0, 26},
              new int[] {8, 8},
              4,
              16,
              PipelinePolicy.B,
              new Recompute[] {Recompute.NONE, Recompute.NONE});

  /** Cumulative tables for one slice size. */
  @Benchmark
  public double[] prepare() {
    StageCosts fresh = new StageCosts(workload);
    return fresh.forwardSeconds(SLICE);
  }

  /** One plan of two stages by the default formula. */
  @Benchmark
  public double assess() {
    return oracle.assess(plan).stepSeconds();
  }

  /** Time and memory of all {@code n²/2} runs of layers. */
  @Benchmark
  public double everyStage() {
    double[] forward = costs.forwardSeconds(SLICE);
    double[] backward = costs.backwardSeconds(SLICE);
    double sum = 0;
    for (int first = 0; first < costs.size(); first++) {
      for (int end = first + 1; end <= costs.size(); end++) {
        sum += forward[end] - forward[first] + backward[end] - backward[first];
        sum += costs.staticBytes(first, end) + costs.heldBytes(first, end, SLICE);
      }
    }
    return sum;
  }
}
