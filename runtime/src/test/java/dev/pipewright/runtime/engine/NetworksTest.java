package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.planner.partition.UniformLayers;
import dev.pipewright.runtime.data.HostValues;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each kind of network, under a strategy of each kind, gives what one worker gives alone: the same
 * bits where sums are taken in the same order, and else 1e-5 of each layer's parameters. Deep
 * networks with batch normalisation over few places make more of rounding than that; they are
 * allowed what a change in the last bits of their samples makes, ten times.
 */
class NetworksTest {
  private static final int BATCH = 10;

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mlp:layers=3,hidden=16,in=12,classes=4",
        "vgg-16:size=32,classes=4,width=16",
        "resnet-18:size=32,classes=4",
        "resnet-50:size=64,classes=4",
        "vit:layers=2,hidden=16,heads=2,patch=8,size=16,classes=4",
        "gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32",
        "bert:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32",
        "gnmt:layers=4,hidden=16,steps=6,vocabulary=32",
      })
  void givesWhatOneWorkerGives(String name) {
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    UpdateRule rule = UpdateRule.usual(Optimizer.MOMENTUM);
    Training training = Training.synthetic(graph, rule, BATCH, 20_000);
    for (Strategy strategy : strategies()) {
      Schedule schedule = strategy.schedule();
      int all = schedule.microBatches() * schedule.placement().chains();
      List<StageLayers> cut = cut(graph, schedule.placement().depth());
      Assignment assignment =
          new Assignment(schedule, cut, strategy.workers(), BATCH, strategy.overlapped());
      // Where sums are taken in another order, rounding grows from step to step.
      int steps = strategy.sameOrder() ? 2 : 1;
      Assignment one = Assignment.serial(Chain.of(graph).size(), all, BATCH);
      var parallel = training.run(assignment, steps);
      var serial = training.run(one, steps);
      double difference = Training.difference(serial, parallel); // of a layer's parameters
      double allowed = strategy.sameOrder() ? 0 : 1e-5;
      if (difference > allowed && !strategy.sameOrder()) {
        var moved = training.with(lastBits(training.feed())).run(one, steps);
        allowed = Math.max(allowed, 10 * Training.difference(serial, moved));
      }
      String what = name + " " + schedule.name() + " on " + strategy.workers();
      assertTrue(Double.isFinite(serial.losses()[0]), what);
      double loss = serial.losses()[0];
      assertEquals(loss, parallel.losses()[0], 1e-5 * Math.max(1, loss), what);
      assertEquals(0, difference, allowed, what);
    }
  }

  /** Samples that differ in what rounding may change; words do not. */
  static Feed lastBits(Feed feed) {
    return new Feed() {
      @Override
      public List<HostValues> inputs(long step, SampleRange samples) {
        return feed.inputs(step, samples).stream().map(NetworksTest::lastBits).toList();
      }

      @Override
      public HostValues target(long step, SampleRange samples) {
        return feed.target(step, samples);
      }
    };
  }

  private static HostValues lastBits(HostValues values) {
    if (values instanceof HostValues.Floating(float[] numbers, long[] shape)) {
      float[] changed = new float[numbers.length];
      for (int i = 0; i < changed.length; i++) {
        changed[i] = numbers[i] * (1 + 0x1p-23f);
      }
      return new HostValues.Floating(changed, shape);
    }
    return values;
  }

  private record Strategy(Schedule schedule, List<Integer> workers, boolean overlapped) {
    /** Whether every sum is taken in the order of the serial run: then it has the same bits. */
    boolean sameOrder() {
      return schedule.placement().chains() == 1 && workers.stream().allMatch(count -> count == 1);
    }
  }

  private static List<Strategy> strategies() {
    return List.of(
        new Strategy(OneForwardOneBackward.of(1, 1), List.of(3), true),
        new Strategy(OneForwardOneBackward.of(3, 2), List.of(2, 1, 3), true),
        new Strategy(ZeroBubbleH1.of(2, 4), List.of(1, 1), false),
        new Strategy(Chimera.of(2, 2), List.of(1, 1), false));
  }

  /** Stages of equally many positions. */
  static List<StageLayers> cut(LayerGraph graph, int stages) {
    Chain chain = Chain.of(graph);
    int[] path = OnePath.positions(chain);
    int[] firsts = UniformLayers.firsts(path.length, stages);
    List<StageLayers> cut = new ArrayList<>();
    int first = 0;
    for (int stage = 0; stage < stages; stage++) {
      int last = stage + 1 < stages ? path[firsts[stage + 1] - 1] : chain.size() - 1;
      cut.add(StageLayers.keeping(first, last));
      first = last + 1;
    }
    return cut;
  }
}
