package dev.pipewright.bench;

import dev.pipewright.planner.alpa.InterOperatorPlanner;
import dev.pipewright.planner.alpa.InterOperatorPlanner.Pipeline;
import dev.pipewright.planner.alpa.StageTable;
import java.util.Optional;
import java.util.SplittableRandom;
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
  private static final int[] SHAPES = {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64};

  @Param({"16", "32", "64"})
  private int layers;

  @Param({"8", "128"})
  private int microBatches;

  /** The optimum. */
  @Benchmark
  public Optional<Pipeline> plan(Table table) {
    return InterOperatorPlanner.plan(table.of(layers), DEVICES, microBatches);
  }

  /** Layers of uneven work; shapes lose a quarter with every factor e of devices, and noise. */
  @State(Scope.Benchmark)
  public static class Table {
    private StageTable known = made(1, new SplittableRandom(1));

    StageTable of(int layers) {
      if (known.layers() != layers) {
        known = made(layers, new SplittableRandom(1));
      }
      return known;
    }

    private static StageTable made(int layers, SplittableRandom random) {
      double[][][] seconds = new double[layers][layers][SHAPES.length];
      int[][][] mostBehind = new int[layers][layers][SHAPES.length];
      double[] work = random.doubles(layers, 0.5, 1.5).toArray();
      for (int first = 0; first < layers; first++) {
        double sum = 0;
        for (int last = first; last < layers; last++) {
          sum += work[last];
          for (int shape = 0; shape < SHAPES.length; shape++) {
            int devices = SHAPES[shape];
            double loss = 1 + Math.log(devices) / 4 + 0.3 * random.nextDouble();
            seconds[first][last][shape] = sum / devices * loss;
            mostBehind[first][last][shape] = 16 * devices / (last - first + 1) - 1;
          }
        }
      }
      return new StageTable(SHAPES, seconds, mostBehind);
    }
  }
}
