package dev.pipewright.bench.jmh;

import dev.pipewright.bench.simulator.Generator;
import dev.pipewright.bench.simulator.Pipeline;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.check.Validator.Problem;
import dev.pipewright.sim.Run;
import dev.pipewright.trace.RankMemory;
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
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Making schedules, checking them, and counting the memory of their runs. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
public class ScheduleBenchmark {
  private static final int RANKS = 64;
  private static final int MICRO_BATCHES = 4096;

  private final Pipeline pipeline = new Pipeline(RANKS, MICRO_BATCHES);
  private final Run run = pipeline.plain();

  /** A schedule that follows a rule. */
  @State(Scope.Benchmark)
  public static class Rule {
    @Param({
      "gpipe",
      "1f1b",
      "1f1b-b",
      "zb-h1",
      "zb-h2",
      "pipedream",
      "pipedream-2bw",
      "interleaved",
      "interleaved-zb",
      "looped-bfs",
      "1f1b-v",
      "hanayo",
      "dualpipe",
      "dualpipev",
      "chimera",
      "1f1b-star",
      "k-periodic",
      "dp",
      "zero-dp",
      "cyclic-v1",
      "cyclic-v2",
      "cyclic-v2-single",
      "cyclic-v2-pyramid",
      "cyclic-v2-pipeline",
      "cyclic-v2-zero"
    })
    public String name = "1f1b";
  }

  /** 64 ranks × 4,096 micro-batches. */
  @Benchmark
  public Schedule make(Rule rule) {
    return Generator.of(rule.name).make(RANKS, MICRO_BATCHES);
  }

  /** 32 ranks × 256 micro-batches. */
  @Benchmark
  public Schedule zeroBubbleAuto() {
    return Generator.of("zb-auto").make(32, 256);
  }

  /** The same, no two stages alike. */
  @Benchmark
  public Schedule zeroBubbleAutoUneven() {
    return Generator.UNEVEN_AUTOMATIC.make(32, 256);
  }

  /** 16 ranks × 128 micro-batches. */
  @Benchmark
  public Schedule halfV() {
    return Generator.of("v-half").make(16, 128);
  }

  /** The same, no two stages alike. */
  @Benchmark
  public Schedule halfVUneven() {
    return Generator.UNEVEN_HALF.make(16, 128);
  }

  /** One forward one backward, 64 ranks × 4,096 micro-batches. */
  @Benchmark
  public List<Problem> check() {
    return Validator.check(pipeline.schedule());
  }

  /** Its memory by category, the run being there. */
  @Benchmark
  public List<RankMemory> memory() {
    return pipeline.memory(run);
  }
}
