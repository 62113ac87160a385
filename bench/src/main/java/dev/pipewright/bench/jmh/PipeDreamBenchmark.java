package dev.pipewright.bench.jmh;

import dev.pipewright.bench.planners.PipeDreamStages;
import dev.pipewright.bench.planners.PlannerBars;
import dev.pipewright.bench.planners.ReferenceNetwork;
import dev.pipewright.bench.planners.ScalingInputs;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.planner.pipedream.CutCosts;
import dev.pipewright.planner.pipedream.PipeDreamOptimizer;
import dev.pipewright.planner.pipedream.PipeDreamPlanning;
import java.util.List;
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

/**
 * PipeDream's optimizer on 4×4 devices; measured networks fail with a message where there are no
 * reference files ({@code -jvmArgs -Dreference.dir=DIR} says where they are).
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PipeDreamBenchmark {
  private static final List<String> MEASURED = List.of("resnet50", "gnmt-16");

  /** Of the reference, or a seeded chain of so many states. */
  @Param({"resnet50", "gnmt-16", "400", "1500"})
  public String network = "400";

  private CutCosts costs = ScalingInputs.chain(400);

  @Setup
  public void prepare() {
    costs =
        MEASURED.contains(network) ? measured() : ScalingInputs.chain(Integer.parseInt(network));
  }

  private CutCosts measured() {
    ReferenceNetwork one = ReferenceNetwork.of(network);
    Reference reference = Reference.usual();
    if (!one.in(reference)) {
      throw new IllegalStateException("skipped: no reference files in " + reference.folder());
    }
    return PipeDreamStages.costs(one.on(reference, Networks.cluster("dapple-a")), one.miniBatch());
  }

  /** Transfers charged. */
  @Benchmark
  public PipeDreamPlanning plan() {
    return PipeDreamOptimizer.plan(costs, PlannerBars.FOUR_BY_FOUR, true, () -> false);
  }
}
