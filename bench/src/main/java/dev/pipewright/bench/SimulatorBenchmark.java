package dev.pipewright.bench;

import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
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
  private final OpTimes equal = OpTimes.equal(STAGES, 1, 1, 1, 0);
  private final OpTimes uneven = uneven();

  private static OpTimes uneven() {
    SplittableRandom random = new SplittableRandom(64);
    double[][] times = new double[4][STAGES];
    for (double[] seconds : times) {
      Arrays.setAll(seconds, stage -> 1 + random.nextDouble());
    }
    return OpTimes.whole(times[0], times[1], times[2], times[3]);
  }

  /** Equal stages without transfers. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public Run equalStages() {
    return StaticSimulator.run(schedule, equal);
  }

  /** Stages that differ, with transfers as long as they. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public Run unevenStages() {
    return StaticSimulator.run(schedule, uneven, Conditions.of(Transfers.QUEUED));
  }

  /** The schedule is made as well. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public Run withItsSchedule() {
    return StaticSimulator.run(OneForwardOneBackward.of(STAGES, MICRO_BATCHES), equal);
  }
}
