package dev.pipewright.bench.jmh;

import dev.pipewright.bench.simulator.Pipeline;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
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

/**
 * 64 stages × 4,096 micro-batches, one forward one backward: simulated passes per second, and per
 * second events of the event-driven simulator. An event is the end of a pass, the departure of a
 * message, or its landing; landings put off because a rate has changed are not counted.
 */
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
  private static final int EVENTS = OPS + 4 * (STAGES - 1) * MICRO_BATCHES;

  private final Pipeline pipeline = new Pipeline(STAGES, MICRO_BATCHES);
  private final OpTimes equal = OpTimes.equal(STAGES, 1, 1, 1, 0);

  /** Equal stages without transfers. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public Run equalStages() {
    return pipeline.equalStages();
  }

  /** Stages that differ, with transfers as long as they that share nothing. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public Run unevenStages() {
    return pipeline.plain();
  }

  /** Transfers over a cut go one after the other. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public Run queuedTransfers() {
    return pipeline.queued();
  }

  /** Each stage exchanges its gradients and updates besides. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public Run withStepEnd() {
    return pipeline.withStepEnd();
  }

  /** The schedule is made as well. */
  @Benchmark
  @OperationsPerInvocation(OPS)
  public Run withItsSchedule() {
    return StaticSimulator.run(OneForwardOneBackward.of(STAGES, MICRO_BATCHES), equal);
  }

  /** Event by event, messages that share nothing. */
  @Benchmark
  @OperationsPerInvocation(EVENTS)
  public Run eventsAlone() {
    return pipeline.events(Transfers.DELAYED);
  }

  /** Nodes of eight neighbours: what leaves a node shares its ports, two messages at a time. */
  @Benchmark
  @OperationsPerInvocation(EVENTS)
  public Run eventsSharingPorts() {
    return pipeline.ports();
  }

  /** No two neighbours in one node: each port carries the messages of eight ranks. */
  @Benchmark
  @OperationsPerInvocation(EVENTS)
  public Run eventsCrowded() {
    return pipeline.crowded();
  }
}
