package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Hanayo;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.LoopedBreadthFirst;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.OneForwardOneBackwardV;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Recomputed;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.search.AdaptiveV;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ZeroBubbleAuto;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every synchronous schedule of the library, with one worker for each rank and with several. */
class SchedulesTest {
  private static final int BATCH = 19; // no multiple of anything
  private static final int STEPS = 2;

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mlp:layers=9,hidden=16,in=16,classes=4",
        "gpt:layers=6,hidden=16,heads=2,sequence=8,vocabulary=32",
        "vit:layers=6,hidden=16,heads=2,patch=8,size=16,classes=4",
        "gnmt:layers=8,hidden=8,steps=4,vocabulary=16",
      })
  void giveWhatOneWorkerGives(String name) {
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    UpdateRule rule = UpdateRule.usual(Optimizer.MOMENTUM);
    Training training = Training.synthetic(graph, rule, BATCH, 20_000);
    int several = 0;
    for (Schedule schedule : schedules()) {
      int all = schedule.microBatches() * schedule.placement().chains();
      var serial = training.run(Assignment.serial(Chain.of(graph).size(), all, BATCH), STEPS);
      assertTrue(serial.losses()[0] > 0.5, "a loss that is none");
      check(name, training, graph, schedule, Collections.nCopies(schedule.ranks(), 1), serial);
      if (several++ % 4 == 0) {
        List<Integer> workers = new ArrayList<>(Collections.nCopies(schedule.ranks(), 1));
        workers.set(several % schedule.ranks(), 2);
        check(name, training, graph, schedule, workers, serial);
      }
    }
  }

  private static void check(
      String name,
      Training training,
      LayerGraph graph,
      Schedule schedule,
      List<Integer> workers,
      Training.Result serial) {
    Assignment assignment =
        new Assignment(
            schedule,
            NetworksTest.cut(graph, schedule.placement().depth()),
            workers,
            BATCH,
            workers.contains(2));
    var parallel = training.run(assignment, STEPS);
    String what = name + " " + schedule.name() + " on " + workers;
    for (int step = 0; step < STEPS; step++) {
      assertEquals(serial.losses()[step], parallel.losses()[step], 1e-5, what);
    }
    assertEquals(0, Training.difference(serial, parallel), 1e-5, what);
  }

  private static List<Schedule> schedules() {
    return List.of(
        GPipe.of(4, 6),
        OneForwardOneBackward.of(4, 6),
        PipelinePolicy.B.schedule(6, new int[] {4, 3, 2, 1}),
        Interleaved.of(2, 2, 4),
        Interleaved.grouped(2, 2, 6, 3),
        LoopedBreadthFirst.of(2, 2, 4),
        OneForwardOneBackwardV.of(2, 5),
        ZeroBubbleH1.of(3, 5),
        ZeroBubbleH2.of(3, 7),
        InterleavedZeroBubble.of(2, 2, 4),
        ZeroBubbleAuto.of(6, times(3), new double[] {4, 3, 2}),
        AdaptiveV.of(6, times(4), AdaptiveV.zeroBubble(2)),
        AdaptiveV.of(6, times(4), AdaptiveV.half(2)),
        Hanayo.of(2, 4, 1),
        DualPipeV.of(2, 6),
        Chimera.of(4, 4),
        DualPipe.of(4, 8),
        Recomputed.of(OneForwardOneBackward.of(3, 5), (stage, microBatch) -> stage < 2),
        Recomputed.of(ZeroBubbleH1.of(3, 5), (stage, microBatch) -> microBatch % 2 == 0));
  }

  private static OpTimes times(int stages) {
    return OpTimes.of(filled(stages, 1), filled(stages, 1.2), filled(stages, 0.8), 0.05);
  }

  private static double[] filled(int stages, double seconds) {
    double[] all = new double[stages];
    Arrays.fill(all, seconds);
    return all;
  }
}
