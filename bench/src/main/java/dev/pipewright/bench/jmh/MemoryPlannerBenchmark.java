package dev.pipewright.bench.jmh;

import dev.pipewright.bench.planners.ScalingInputs;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.memory.Balance;
import dev.pipewright.planner.memory.Capture;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.memory.McapBruteForce;
import dev.pipewright.planner.memory.McapExact;
import dev.pipewright.planner.memory.TieBreak;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.List;
import java.util.OptionalInt;
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

/** mCAP on 30 layers and 8 stages, CAPTURE on GPT-2 with 48 blocks and 8 devices. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class MemoryPlannerBenchmark {
  private static final int LAYERS = 30;
  private static final int STAGES = 8;
  private static final int GLOBAL_BATCH = 32;

  private final LayerPeaks peaks = ScalingInputs.peaks(LAYERS);
  private final StageCosts costs = ScalingInputs.transformer(STAGES, GLOBAL_BATCH);

  /** The dynamic program. */
  @Benchmark
  public Balance exact() {
    return McapExact.of(peaks, LAYERS, STAGES, TieBreak.NONE);
  }

  /** The dynamic program with mCAP's choice among equals. */
  @Benchmark
  public Balance exactWithTies() {
    return McapExact.of(peaks, LAYERS, STAGES, TieBreak.NEXT_PEAKS);
  }

  /** 1.6 million partitions. */
  @Benchmark
  public Balance bruteForce() {
    return McapBruteForce.of(peaks, LAYERS, STAGES, () -> false);
  }

  /** The least peak of all hybrid plans. */
  @Benchmark
  public Planning capture() {
    var request =
        new Request(
            GLOBAL_BATCH,
            OptionalInt.of(2),
            List.of(PipelinePolicy.A),
            Recomputation.NEVER,
            CostModel.PIPEWRIGHT);
    return Capture.plan(
        new StageCosts(costs.workload()), request, new Capture.Limits(STAGES, 1, 1), () -> true);
  }
}
