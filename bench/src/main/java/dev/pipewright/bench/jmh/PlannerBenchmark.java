package dev.pipewright.bench.jmh;

import dev.pipewright.bench.dapple.Table5;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.recompute.Recomputation;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** BERT-48 on 16 devices: planning time, everything prepared anew each time. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PlannerBenchmark {
  private static final int GLOBAL_BATCH = 64;

  /** The cluster. */
  @Param({"dapple-a", "dapple-b", "dapple-c"})
  public String cluster = "dapple-a";

  private StageCosts costs = Networks.zoo("bert-48", Networks.cluster("dapple-a"), GLOBAL_BATCH);

  @Setup
  public void prepare() {
    costs = Networks.zoo("bert-48", Networks.cluster(cluster), GLOBAL_BATCH);
  }

  /** Default cost model, micro-batches open. */
  @Benchmark
  public Planning everythingOpen() {
    return plan(CostModel.PIPEWRIGHT, OptionalInt.empty());
  }

  /** Default cost model, micro-batches of 2 samples. */
  @Benchmark
  public Planning microBatchGiven() {
    return plan(CostModel.PIPEWRIGHT, OptionalInt.of(2));
  }

  /** The task of the planner of DAPPLE's authors. */
  @Benchmark
  public Planning authorsScore() {
    return plan(CostModel.DAPPLE_REPO, OptionalInt.of(2));
  }

  private Planning plan(CostModel model, OptionalInt microBatch) {
    Request request =
        new Request(GLOBAL_BATCH, microBatch, Table5.POLICIES, Recomputation.WHERE_NEEDED, model);
    return Networks.plan(new StageCosts(costs.workload()), request);
  }
}
