import dev.pipewright.api.PassTimes;
import dev.pipewright.api.Schedules;
import dev.pipewright.api.SimulatedSchedule;
import dev.pipewright.api.Simulator;
import java.util.List;
import java.util.Locale;

/** Compares time, idle share and held activations of four schedules of the same work. */
class CompareSchedules {
  public static void main(String[] args) {
    PassTimes times = new PassTimes(1, 1, 1, 0.1);
    for (String name : List.of("1f1b", "interleaved", "zb-h1", "dualpipev")) {
      SimulatedSchedule run = Simulator.run(Schedules.make(name, 4, 8, times), times);
      System.out.printf(Locale.ROOT, "%s %.3f %.3f ", name, run.makespan(), run.idleShare());
      System.out.println(run.peakActivations());
    }
  }
}
