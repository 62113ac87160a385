package dev.pipewright.predict.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.predict.paradl.MemoryUse;
import dev.pipewright.predict.paradl.ParadlOracle;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A strategy is a name for a plan: its seconds and bytes are those that the planners' oracle and a
 * run's prediction give for that plan. The plan is made here by hand.
 */
class EveryStrategyAgreesWithItsPlanTest {
  private static final double ROUNDING = 1e-9;
  private static final long BATCH = 24;

  private static final List<Strategy> ON_ONE_STAGE =
      Stream.of(Strategy.values()).filter(strategy -> !strategy.pipelined()).toList();

  static Stream<Arguments> questions() {
    List<Arguments> questions = new ArrayList<>();
    for (String network :
        List.of(
            "vgg-16",
            "resnet-50",
            "alexnet",
            "cosmoflow-128",
            "gpt:layers=3,hidden=256,heads=8,sequence=64,vocabulary=1024",
            "mixtral:layers=2,hidden=256,heads=8,kv-heads=4,ffn=512,sequence=64,vocabulary=1024,experts=8,chosen=2")) {
      for (String cluster : List.of("dapple-a:2x4", "dapple-b:8", "abci:2x4")) {
        for (Strategy strategy : ON_ONE_STAGE) {
          questions.add(Arguments.of(network, cluster, strategy));
        }
      }
    }
    return questions.stream();
  }

  private static Workload workload(String network, String cluster) {
    ZooModel model = Models.find(network).orElseThrow();
    Cluster devices = Clusters.find(cluster).orElseThrow();
    var profile =
        Roofline.profile(model.graph(), devices, model.training(), List.of(1, 2, 4, 8, 16, 32));
    return new Workload(Chain.of(model.graph()), profile, model.training(), devices);
  }

  @ParameterizedTest
  @MethodSource("questions")
  void secondsAndBytesAreThoseOfThePlan(String network, String cluster, Strategy strategy) {
    Workload workload = workload(network, cluster);
    StageCosts costs = new StageCosts(workload);
    boolean tied = !workload.chain().graph().tiedTables().isEmpty();
    boolean apart = tied && strategy.zeroStage() == 0; // runs sum the table by itself, plans do not
    ParadlOracle oracle = new ParadlOracle(Setting.of(workload, 1000));
    for (int devices : List.of(1, 2, 3, 4, 8)) {
      if (oracle.predict(strategy, devices, BATCH) instanceof Predicted row) {
        String what = row.layout() + " of " + strategy + " on " + devices;
        PipelinePlan plan = plan(workload, row);
        Assessment priced = CostModel.PIPEWRIGHT.oracle(costs).assess(plan);
        near(priced.stepSeconds(), row.iterationSeconds(), "step of the plan: " + what);
        near(priced.peakBytes(), row.memory().total(), "bytes of the plan: " + what);
        RunPrediction run = new RunPrediction(costs, Assignment.of(plan));
        if (!apart) {
          near(run.predictedStepSeconds(), row.iterationSeconds(), "step of a run: " + what);
          bytes(run.peakBytes()[0], row, "bytes of a run: " + what);
        }
      }
    }
  }

  /** A plan reserves all gradients under ZeRO 1; a run may sum some before it has the others. */
  private static void bytes(double run, Predicted row, String what) {
    MemoryUse use = row.memory();
    boolean sharded = row.layout().groups() > 1;
    if (sharded && row.strategy() == Strategy.ZERO1 && use.buffers() == 0) {
      assertTrue(run <= use.total() * (1 + ROUNDING), what);
      assertTrue(run >= (use.total() - use.gradients()) * (1 - ROUNDING), what);
    } else {
      near(run, use.total(), what);
    }
  }

  private static void near(double expected, double actual, String what) {
    assertEquals(expected, actual, ROUNDING * expected, what);
  }

  /** One stage on the first devices, in micro-batches as the strategy chose them. */
  private static PipelinePlan plan(Workload workload, Predicted row) {
    int groups = row.layout().groups();
    int parts = row.layout().parts();
    int segments = row.layout().segments();
    int samples = Math.toIntExact(row.globalBatch() / segments);
    Parallelism parallelism =
        parts == 1 ? Parallelism.NONE : new Parallelism(kind(row.strategy()), grid(row));
    if (parallelism.kind() == Kind.EXPERT && samples % (groups * parts) == 0) {
      parallelism = Parallelism.ofWholeSequences(parts);
    }
    StagePlan stage =
        new StagePlan(
            0,
            workload.chain().size() - 1,
            IntStream.range(0, groups * parts).boxed().toList(),
            parallelism,
            Recompute.NONE,
            1,
            List.of());
    boolean overlap = groups * parts > 1;
    ZeroStage sharding = ZeroStage.of(row.strategy().zeroStage()).orElseThrow();
    return new PipelinePlan(
        PipelinePolicy.A, segments, samples, 1, overlap, List.of(stage), sharding);
  }

  private static List<Integer> grid(Predicted row) {
    return row.layout().grid().isEmpty() ? List.of(row.layout().parts()) : row.layout().grid();
  }

  private static Kind kind(Strategy strategy) {
    return switch (strategy.split()) {
      case NOTHING -> Kind.NONE;
      case FILTERS -> Kind.FILTER;
      case CHANNELS -> Kind.CHANNEL;
      case POSITIONS -> Kind.SPATIAL;
      case HEADS -> Kind.TENSOR;
      case SEQUENCES -> Kind.SEQUENCE;
      case TOKENS -> Kind.CONTEXT;
      case EXPERTS -> Kind.EXPERT;
    };
  }
}
