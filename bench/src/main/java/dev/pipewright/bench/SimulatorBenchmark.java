package dev.pipewright.bench;

import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.PlanRun;
import dev.pipewright.sim.PlanSimulator;
import dev.pipewright.sim.StageTimes;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Simulated operations per second: 64 stages × 4,096 micro-batches, one forward one backward. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SimulatorBenchmark {
  private static final int STAGES = 64;
  private static final int MICRO_BATCHES = 4096;
  private static final int OPS = 2 * STAGES * MICRO_BATCHES;

  private final Schedule schedule = OneForwardOneBackward.of(STAGES, MICRO_BATCHES);
  private final StageTimes equal = StageTimes.uniform(STAGES, 1, 2);
  private final StageTimes uneven = uneven();

  private static StageTimes uneven() {
    SplittableRandom random = new SplittableRandom(64);
    double[][] times = new double[6][STAGES];
    for (double[] seconds : times) {
      Arrays.setAll(seconds, stage -> 1 + random.nextDouble());
    }
    return new StageTimes(times[0], times[1], times[2], times[3], times[4], times[5]);
  }

  /** Equal stages without transfers. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public PlanRun equalStages() {
    return PlanSimulator.run(schedule, equal);
  }

  /** Stages that differ, with transfers as long as they. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public PlanRun unevenStages() {
    return PlanSimulator.run(schedule, uneven);
  }

  /** The schedule is made as well. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public PlanRun withItsSchedule() {
    return PlanSimulator.run(OneForwardOneBackward.of(STAGES, MICRO_BATCHES), equal);
  }
}
