package dev.pipewright.bench.jmh;

import dev.pipewright.bench.planners.ScalingInputs;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.PlacementPlanner;
import dev.pipewright.planner.placement.PlacementRequest;
import dev.pipewright.planner.placement.PlacementResult;
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

/** Training graphs of the zoo on six accelerators and a processor. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PlacementBenchmark {
  private static final int SAMPLES = 64;

  @Param({"gnmt-16", "resnet-50", "bert-48"})
  public String network = "gnmt-16";

  private OperatorGraph graph = ScalingInputs.training("gnmt-16", SAMPLES);

  @Setup
  public void prepare() {
    graph = ScalingInputs.training(network, SAMPLES);
  }

  /** The optimum of all contiguous sets. */
  @Benchmark
  public PlacementResult contiguous() {
    return PlacementPlanner.plan(graph, PlacementRequest.contiguous());
  }

  /** Along one order of the operators. */
  @Benchmark
  public PlacementResult oneOrder() {
    return PlacementPlanner.plan(graph, PlacementRequest.contiguous().linearized());
  }
}
