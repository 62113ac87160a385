package dev.pipewright.formats.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class ScheduleJsonTest {
  private static String text(Schedule schedule, int microBatches, int chunks) {
    Run run = StaticSimulator.run(schedule, OpTimes.equal(schedule.stages(), 1, 1, 1, 0));
    return ScheduleJson.text(
        run, new ScheduleJson.Context("s", microBatches, chunks, OptionalDouble.of(2), 0.5));
  }

  @Test
  void everyFigureIsThere() {
    String text = text(OneForwardOneBackward.of(2, 1), 1, 1);
    assertEquals(
        """
        {
          "schedule": "s",
          "stages": 2,
          "micro_batches": 1,
          "chunks": 1,
          "makespan": 6.0,
          "idle_share": 0.5,
          "stage_span_idle_share": 0.5,
          "peak_activations": [1, 1],
          "chain_micro_batches": 1,
          "placement": [[0, 1]],
          "memory_cap": 2.0,
          "generation_s": 0.5,
          "ranks": [
            [["F", 0, 0, 0.0, 1.0], ["BW", 0, 0, 4.0, 6.0]],
            [["F", 0, 1, 1.0, 2.0], ["BW", 0, 1, 2.0, 4.0]]
          ]
        }
        """,
        text);
    JsonMapper.shared().readTree(text);
  }

  @Test
  void aCapIsANumberOrOneForEachRank() {
    assertEquals("2.5", cap(MemoryCap.of(2.5)));
    assertEquals("3.0", cap(new MemoryCap(List.of(3.0, 3.0))));
    assertEquals("[3.0,2.5]", cap(new MemoryCap(List.of(3.0, 2.5))));
    assertEquals("", cap(MemoryCap.NONE));
  }

  private static String cap(MemoryCap cap) {
    Schedule schedule = OneForwardOneBackward.of(2, 1);
    Run run = StaticSimulator.run(schedule, OpTimes.equal(2, 1, 1, 1, 0));
    var none = OptionalDouble.empty();
    String text =
        ScheduleJson.text(
            run,
            new ScheduleJson.Context(
                "s", 1, 1, cap, none, false, Optional.empty(), Optional.empty(), 0.5));
    return JsonMapper.shared().readTree(text).path("memory_cap").toString();
  }

  @Test
  void directionsAndPairsAreToldApart() {
    Program program = new Program();
    program.add(Pass.FORWARD, 0, 0).add(Pass.BACKWARD_INPUT, 0, 0);
    program.add(Pass.BACKWARD_WEIGHT, 0, 0).join().add(Pass.FORWARD, 1, 0);
    program.add(Pass.BACKWARD, 1, 0);
    Schedule both = new Schedule("s", Placement.bothWays(1), 1, new long[][] {program.packed()});
    var ranks = JsonMapper.shared().readTree(text(both, 2, 1)).get("ranks");
    assertEquals(
        "[[[\"F\",0,0,0.0,1.0,0],[\"B\",0,0,1.0,2.0,0],[\"FB\",2.0,4.0,[[\"W\",0,0,0],[\"F\",0,0,1]]],"
            + "[\"BW\",0,0,4.0,6.0,1]]]",
        ranks.toString());
  }

  @Test
  void activationsOfChunksAreCountedAsPartsOfStages() {
    Program program = new Program();
    program.add(Pass.FORWARD, 0, 0).add(Pass.FORWARD, 1, 0).add(Pass.FORWARD, 2, 0);
    program.add(Pass.BACKWARD, 2, 0).add(Pass.BACKWARD, 1, 0).add(Pass.BACKWARD, 0, 0);
    long[][] programs = {program.packed()};
    Schedule three = new Schedule("s", Placement.looped(1, 3), 1, programs);
    assertEquals("[1]", peaks(text(three, 1, 3)));
    assertEquals("[1.5]", peaks(text(three, 1, 2)));
  }

  private static String peaks(String text) {
    return JsonMapper.shared().readTree(text).get("peak_activations").toString();
  }
}
