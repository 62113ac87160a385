package dev.pipewright.bench.jmh;

import dev.pipewright.bench.paradl.PredictStudy;
import dev.pipewright.predict.paradl.Prediction;
import dev.pipewright.predict.paradl.Study;
import java.util.List;
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

/** ResNet-152 on 1, 2, … 512 devices with all 13 strategies; the oracle is made anew each time. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class PredictBenchmark {
  private final PredictStudy study = PredictStudy.of("resnet-152", 512);

  /** With the eight other machines of the sensitivities. */
  @Benchmark
  public Study wholeStudy() {
    return study.whole();
  }

  /** The 130 predictions alone. */
  @Benchmark
  public List<Prediction> predictions() {
    return study.predictions();
  }
}
