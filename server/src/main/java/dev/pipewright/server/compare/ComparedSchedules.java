package dev.pipewright.server.compare;

import dev.pipewright.api.PassTimes;
import dev.pipewright.api.Schedules;
import dev.pipewright.api.SimulatedSchedule;
import dev.pipewright.api.Simulator;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.Shown;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Recorder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Published schedules of the same work, by name. */
public final class ComparedSchedules {
  private static final int MOST_RANKS = 64;
  private static final int MOST_MICRO_BATCHES = 512;

  private ComparedSchedules() {}

  /**
   * Runs schedules with the usual times of passes.
   *
   * @param names with commas between them
   * @throws BadInputException where one does not exist, or they are too many or too large
   */
  public static SideBySide of(String names, int ranks, int microBatches) {
    List<String> all = Arrays.stream(names.split(",", -1)).map(String::strip).toList();
    SideBySide.checkCount(all.size(), "schedules");
    atMost("stages", ranks, MOST_RANKS);
    atMost("micro-batches", microBatches, MOST_MICRO_BATCHES);
    List<Shown> shown = new ArrayList<>();
    for (String name : all) {
      shown.add(shown(name, ranks, microBatches));
    }
    return new SideBySide(
        Runs.of(shown, microBatches, "F 1, B 1, W 1"), new Table(List.of(), List.of()));
  }

  private static void atMost(String what, int value, int most) {
    if (value > most) {
      throw new BadInputException(
          "%s: %d is too many to draw; give at most %d".formatted(what, value, most));
    }
  }

  private static Shown shown(String name, int ranks, int microBatches) {
    try {
      Schedule schedule = Schedules.make(name, ranks, microBatches);
      SimulatedSchedule run = Simulator.run(schedule, PassTimes.USUAL);
      return new Shown(
          name, Recorder.timeline(run.run(), MemoryCap.NONE, run.chunks()), Optional.empty());
    } catch (IllegalArgumentException e) {
      throw new BadInputException("schedules: " + e.getMessage());
    }
  }
}
