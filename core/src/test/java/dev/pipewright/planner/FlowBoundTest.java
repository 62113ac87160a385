package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.FlowBound.Message;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The fastest of all cuts, simulated with messages that queue, against the bound. */
class FlowBoundTest {
  private static final int INSTANCES = 400;
  private static final double ROUNDING = 1 + 1e-9;
  private static final double NEAR = 0.9;
  private static final List<String> SCHEDULES =
      List.of("gpipe", "1f1b", "zb-h1", "interleaved", "looped-bfs", "hanayo", "chimera");

  /** Layers that a schedule runs, with messages of some speed over their cuts. */
  private static final class Pipeline {
    final Schedule schedule;
    final LayerLoads loads;
    final boolean splits;
    final StageEnds ends;
    final CutBytes cuts;
    final Message message;

    Pipeline(SplittableRandom random) {
      String name = SCHEDULES.get(random.nextInt(SCHEDULES.size()));
      int ranks = name.equals("chimera") ? 2 : random.nextInt(2, 4);
      int chunks = ScheduleCatalog.find(name).orElseThrow().chunks();
      this.schedule =
          ScheduleCatalog.find(name)
              .orElseThrow()
              .make(ScheduleInput.counts(ranks, ranks * random.nextInt(1, 4), chunks));
      this.splits = FixedOrder.of(schedule).splitsBackward();
      int stages = schedule.placement().depth();
      int size = random.nextInt(stages, stages + 4);
      double[] backward = random.doubles(size, 0.5, 3).toArray();
      double[] none = new double[size];
      this.loads =
          new LayerLoads(
              random.doubles(size, 0.2, 1.5).toArray(),
              backward,
              backward,
              Arrays.stream(backward).map(each -> each * random.nextDouble(0.2, 0.6)).toArray(),
              none,
              none,
              none,
              none);
      double[] tail = random.doubles(size, 0, 3).toArray();
      this.ends = new StageEnds(tail, tail, none, 1);
      this.cuts = new CutBytes(random.doubles(size - 1, 0.1, 2).toArray());
      this.message = new Message(random.nextDouble(), Math.pow(10, random.nextDouble(-2, 1)));
    }

    FlowBound bound() {
      StageFlow flow = StageFlow.of(schedule);
      Message[] ways = new Message[flow.stages()];
      Arrays.setAll(ways, stage -> flow.crosses(stage) ? message : Message.NONE);
      return new FlowBound(loads, splits, flow, ends, ways, ways, cuts, 1);
    }

    /** Over all cuts whose stages begin with these runs and some behind. */
    double fastest(int[] firsts, int stage) {
      int stages = firsts.length - 1;
      if (stage == stages) {
        return seconds(firsts);
      }
      double best = Double.POSITIVE_INFINITY;
      for (int at = firsts[stage - 1] + 1; at <= firsts[stages] - (stages - stage); at++) {
        firsts[stage] = at;
        best = Math.min(best, fastest(firsts, stage + 1));
      }
      return best;
    }

    double fastest() {
      int[] firsts = new int[schedule.placement().depth() + 1];
      firsts[firsts.length - 1] = loads.size();
      return fastest(firsts, 1);
    }

    private double seconds(int[] firsts) {
      int depth = firsts.length - 1;
      int stages = schedule.stages();
      double[] sent = new double[stages];
      for (int stage = 0; stage < stages; stage++) {
        boolean last = schedule.placement().last(stage);
        sent[stage] = last ? 0 : message.of(cuts.at(firsts[stage % depth + 1]));
      }
      double[] backward = each(loads.backward(), firsts);
      double[] weights = each(loads.weights(), firsts);
      Arrays.setAll(backward, stage -> backward[stage] - weights[stage]);
      double[] none = new double[stages];
      OncePerStepTimes once = new OncePerStepTimes(none, each(ends.tail(), firsts), none, none);
      OpTimes times =
          new OpTimes(
              each(loads.forward(), firsts), backward, weights, none, sent, sent, once, false);
      return StaticSimulator.run(StepEnd.of(schedule), times, Conditions.of(Transfers.QUEUED))
          .makespan();
    }

    private double[] each(double[] runs, int[] firsts) {
      int depth = firsts.length - 1;
      double[] sums = new double[schedule.stages()];
      Arrays.setAll(
          sums,
          stage -> Arrays.stream(runs, firsts[stage % depth], firsts[stage % depth + 1]).sum());
      return sums;
    }
  }

  @Test
  void noCutIsFaster() {
    int near = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      Pipeline pipeline = new Pipeline(new SplittableRandom(instance));
      double fastest = pipeline.fastest();
      FlowBound bound = pipeline.bound();
      String what = instance + " " + pipeline.schedule.name();
      assertTrue(bound.isPossible(fastest * ROUNDING), what);
      near += bound.isPossible(fastest * NEAR) ? 0 : 1;
    }
    assertTrue(near > INSTANCES / 5, "within 10 %: " + near);
  }

  /** Two stages of one layer each; each message takes longer than a pass. */
  @Test
  void messagesQueueAndAreAwaited() {
    LayerLoads loads =
        new LayerLoads(
            new double[] {1, 1},
            new double[] {2, 2},
            new double[] {2, 2},
            new double[2],
            new double[2],
            new double[2],
            new double[2],
            new double[2]);
    Message slow = new Message(0, 5);
    Message[] ways = {slow, Message.NONE};
    CutBytes cuts = new CutBytes(new double[] {1});
    StageEnds ends = StageEnds.none(2);
    // 1 + 4 · 5 there, then 1 + 2 of the last stage, 5 back and 2
    StageFlow any = new StageFlow(new int[] {0, 1}, new int[] {4, 4}, 4);
    assertEquals(31, least(new FlowBound(loads, false, any, ends, ways, ways, cuts, 1)), 1e-6);
    // one micro-batch at a time: 4 · (1 + 5 + 3 + 5 + 2)
    StageFlow one = new StageFlow(new int[] {0, 1}, new int[] {1, 1}, 4);
    assertEquals(64, least(new FlowBound(loads, false, one, ends, ways, ways, cuts, 1)), 1e-6);
  }

  private static double least(FlowBound bound) {
    double none = 0;
    double some = 1000;
    for (int i = 0; i < 60; i++) {
      double middle = (none + some) / 2;
      if (bound.isPossible(middle)) {
        some = middle;
      } else {
        none = middle;
      }
    }
    return some;
  }
}
