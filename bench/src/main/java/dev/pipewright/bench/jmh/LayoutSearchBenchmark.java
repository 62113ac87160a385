package dev.pipewright.bench.jmh;

import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.formats.oracle.CalibratedConstantsJson;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.MeshTerms;
import dev.pipewright.predict.transformer.StepBreakdown;
import dev.pipewright.predict.transformer.StepEvaluator;
import dev.pipewright.predict.transformer.StepTerms;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TrainingPrecision;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerPrediction;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.predict.transformer.ZeroChoice;
import dev.pipewright.predict.transformer.search.LayoutSearch;
import dev.pipewright.predict.transformer.search.LayoutSurvey;
import dev.pipewright.predict.transformer.search.SearchSpace;
import dev.pipewright.predict.transformer.search.SearchValues;
import dev.pipewright.predict.transformer.search.SearchedLayout;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Megatron of 10¹² parameters on 512 A100 with a batch of 512 sequences, on one thread: layouts per
 * second in the column {@code layouts}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 3, jvmArgsAppend = "-Djava.util.concurrent.ForkJoinPool.common.parallelism=0")
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class LayoutSearchBenchmark {
  private static final int DEVICES = 512;
  private static final int BATCH = 512;
  private static final int LAYERS = 16; // of a pipeline rank of the one mesh

  private final CalibratedConstants constants = CalibratedConstantsJson.read();
  private final SearchSpace space = space();
  private final LayoutSearch search = LayoutSearch.of(space, constants);
  private final TransformerRun run = run();
  private final StepTerms terms = StepTerms.of(run, constants);
  private final MeshTerms mesh = terms.mesh(run);
  private final StepEvaluator step =
      new StepEvaluator(mesh, terms.microBatch(run), run.layout().microBatches());

  /** Layouts of the invocations of an iteration. */
  @AuxCounters(AuxCounters.Type.OPERATIONS)
  @State(Scope.Thread)
  public static class Count {
    /** Evaluated ones. */
    public long layouts;

    @Setup(Level.Iteration)
    public void clear() {
      layouts = 0;
    }
  }

  private static SearchSpace space() {
    TransformerShape shape = NetworkNames.namedTransformer("megatron-1t").orElseThrow().shape();
    return new SearchSpace(
        shape,
        MachineSheets.read().find("a100-80g"),
        Framework.MEGATRON_BRIDGE,
        TrainingPrecision.BF16,
        true,
        0,
        OptionalInt.empty(),
        DEVICES,
        BATCH,
        SearchValues.all(shape, DEVICES, BATCH, true));
  }

  private TransformerRun run() {
    TrainingLayout layout = new TrainingLayout(8, 8, 8, 1, 1, 1, 1, 1, 8, false, true, BATCH, 1);
    return space
        .choices(new SearchedLayout(layout, SearchValues.USUAL_RECOMPUTATION.get(0), 0))
        .run();
  }

  /** The search loop, with the best ten, the front and the heat map. */
  @Benchmark
  public LayoutSurvey everyLayout(Count count) {
    LayoutSurvey survey = search.survey();
    count.layouts += survey.count().valid();
    return survey;
  }

  /** The best ten alone, with bounds; layouts that a bound excludes count, too. */
  @Benchmark
  public LayoutSurvey boundedSearch(Count count) {
    LayoutSurvey survey = search.best();
    count.layouts += survey.count().valid();
    return survey;
  }

  /** Tables and search, from nothing. */
  @Benchmark
  public LayoutSurvey fromNothing(Count count) {
    LayoutSurvey survey = LayoutSearch.of(space, constants).survey();
    count.layouts += survey.count().valid();
    return survey;
  }

  /** Each layout of one mesh and micro-batch by phase and by category of memory. */
  @Benchmark
  public void breakdowns(Count count, Blackhole hole) {
    for (int zero = 0; zero < ZeroChoice.ALL.size(); zero++) {
      step.zero(zero);
      for (int offloaded = 0; offloaded <= LAYERS; offloaded++) {
        StepBreakdown breakdown = step.breakdown(offloaded);
        hole.consume(breakdown);
        count.layouts++;
      }
    }
  }

  /** A prediction in full, for comparison. */
  @Benchmark
  public TransformerPrediction oracle(Count count) {
    count.layouts++;
    return TransformerOracle.predict(run, constants);
  }
}
