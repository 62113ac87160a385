package dev.pipewright.formats;

import dev.pipewright.schedule.Schedule;
import java.util.List;

/**
 * A schedule that was read, and what keeps it from running.
 *
 * @param problems each with its place in the file; empty for a schedule that can run
 * @param transfers whether the file says what is sent and received
 */
public record ScheduleFile(Schedule schedule, List<String> problems, boolean transfers) {
  public ScheduleFile {
    problems = List.copyOf(problems);
  }
}
