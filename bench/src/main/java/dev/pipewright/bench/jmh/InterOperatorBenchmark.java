package dev.pipewright.bench.jmh;

import dev.pipewright.bench.planners.ScalingInputs;
import dev.pipewright.planner.alpa.InterOperatorPlanner;
import dev.pipewright.planner.alpa.InterOperatorPlanner.Pipeline;
import dev.pipewright.planner.alpa.StageTable;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Stage construction on 8 machines of 8 devices, from a table that is there. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
public class InterOperatorBenchmark {
  private static final int DEVICES = 64;

  @Param({"16", "32", "64"})
  private int layers;

  @Param({"8", "128"})
  private int microBatches;

  /** The optimum. */
  @Benchmark
  public Optional<Pipeline> plan(Table table) {
    return InterOperatorPlanner.plan(table.of(layers), DEVICES, microBatches);
  }

  /** The table of the latest number of layers. */
  @State(Scope.Benchmark)
  public static class Table {
    private StageTable known = ScalingInputs.stages(1);

    StageTable of(int layers) {
      if (known.layers() != layers) {
        known = ScalingInputs.stages(layers);
      }
      return known;
    }
  }
}
