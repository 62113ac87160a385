package dev.pipewright.runtime.training;

import dev.pipewright.execution.RecordedStep;
import dev.pipewright.execution.StepResult;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.runtime.engine.StepReport;
import dev.pipewright.runtime.launch.QuietQuartile;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * Puts together what all workers report of each step. A step lasts from the end of the one before,
 * on the last of the workers, to its own; the first, and one that follows something else, from its
 * own begin. Where replicas take turns, steps end in rounds, and share a round's time. Steps that
 * flow into one another are idle together: what one computes may lie in the time of others.
 */
final class StepAssembly {
  private static final int RECENT = 500;

  private final Assignment assignment;
  private final RunSchedule runSchedule;
  private final Map<Long, StepReport[]> open = new HashMap<>(); // not yet reported by all
  private final List<StepResult> results = new ArrayList<>();
  private final Deque<StepReport[]> recent = new ArrayDeque<>(); // of the last results
  private final Deque<Long> stolen = new ArrayDeque<>(); // ticks of each of them
  private final LongSupplier ticks;
  private long before; // ticks until the last result
  private final Deque<Long> ends = new ArrayDeque<>(); // of the last round, or where it began
  private double early; // busy seconds beyond the duration of their step; count with the next
  private double busySeconds; // of steps that flow
  private double flowSeconds;

  /**
   * @param ticks of processor time that have been stolen so far
   */
  StepAssembly(Assignment assignment, RunSchedule runSchedule, LongSupplier ticks) {
    this.assignment = assignment;
    this.runSchedule = runSchedule;
    this.ticks = ticks;
  }

  /**
   * What a worker reports at once; the results of steps of which it is the last to report. What was
   * stolen since results were there before counts for each of them.
   */
  List<StepResult> add(int worker, List<StepReport> reports) {
    List<StepReport[]> whole = new ArrayList<>();
    for (StepReport report : reports) {
      StepReport[] all =
          open.computeIfAbsent(report.step(), step -> new StepReport[assignment.size()]);
      all[worker] = report;
      if (!Arrays.asList(all).contains(null)) {
        open.remove(report.step());
        whole.add(all);
      }
    }
    if (whole.isEmpty()) {
      return List.of();
    }
    long now = ticks.getAsLong();
    List<StepResult> added = whole.stream().map(all -> add(all, now - before)).toList();
    before = now;
    return added;
  }

  private StepResult add(StepReport[] all, long lost) {
    StepResult result = together(all);
    results.add(result);
    recent.addLast(all);
    stolen.addLast(lost);
    if (recent.size() > RECENT) {
      recent.removeFirst();
      stolen.removeFirst();
    }
    return result;
  }

  private StepResult together(StepReport[] all) {
    double loss = 0;
    long correct = 0;
    long rows = 0;
    double busy = 0;
    for (StepReport report : all) {
      loss += report.loss();
      correct += report.correct();
      rows += report.rows();
      busy += busy(report);
    }
    double seconds = seconds(all);
    return new StepResult(
        all[0].step(),
        loss,
        (double) correct / rows,
        assignment.batch(),
        seconds,
        1 - share(busy / all.length, seconds));
  }

  private double seconds(StepReport[] all) {
    if (runSchedule.pausesBefore(all[0].step())) {
      ends.clear();
      ends.add(begin(all));
    }
    long end = end(all);
    double seconds = (end - ends.getFirst()) / 1e9 / ends.size();
    ends.add(end);
    if (ends.size() > assignment.asyncPipeline().map(AsyncPipeline::round).orElse(1)) {
      ends.removeFirst();
    }
    return seconds;
  }

  private double share(double busy, double seconds) {
    if (assignment.asyncPipeline().isEmpty()) {
      double due = early + busy;
      early = Math.max(0, due - seconds);
      return (due - early) / seconds;
    }
    busySeconds += busy;
    flowSeconds += seconds;
    return busySeconds / flowSeconds;
  }

  /** Seconds of ops and update. */
  private static double busy(StepReport report) {
    long busy = report.updateEnded() - report.updateStarted();
    for (int i = 0; i < report.started().length; i++) {
      busy += report.ended()[i] - report.started()[i];
    }
    return busy / 1e9;
  }

  private static long begin(StepReport[] all) {
    return Arrays.stream(all)
        .mapToLong(
            report -> report.waited().length == 0 ? report.updateStarted() : report.waited()[0])
        .min()
        .orElseThrow();
  }

  private static long end(StepReport[] all) {
    return Arrays.stream(all).mapToLong(StepReport::updateEnded).max().orElseThrow();
  }

  List<StepResult> results() {
    return results;
  }

  /**
   * The step of median duration in the second half, of a long run among the last ones; of these,
   * where a host takes processor time away, among those that lost least.
   */
  RecordedStep typical() {
    return middle(QuietQuartile.of(lost()));
  }

  /** The step at the lower quartile of those that others disturbed least. */
  RecordedStep calm() {
    double[] seconds =
        results.stream().skip(firstCounted()).mapToDouble(StepResult::seconds).toArray();
    return middle(QuietQuartile.shorter(seconds, lost()));
  }

  private int firstCounted() {
    return Math.max(results.size() / 2, forgotten());
  }

  private int forgotten() {
    return results.size() - recent.size();
  }

  private long[] lost() {
    return stolen.stream().skip(firstCounted() - forgotten()).mapToLong(Long::longValue).toArray();
  }

  /**
   * The step of median duration.
   *
   * @param counted positions after the first step that counts
   */
  private RecordedStep middle(int[] counted) {
    int[] byDuration =
        IntStream.of(counted)
            .map(i -> firstCounted() + i)
            .boxed()
            .sorted(Comparator.comparingDouble(i -> results.get(i).seconds()))
            .mapToInt(Integer::intValue)
            .toArray();
    int middle = byDuration[byDuration.length / 2];
    List<StepReport[]> reports = List.copyOf(recent);
    return recorded(middle, reports.get(middle - forgotten()), results.get(middle).seconds());
  }

  private static RecordedStep recorded(long step, StepReport[] all, double seconds) {
    long begin = begin(all);
    int workers = all.length;
    double[][] waited = new double[workers][];
    double[][] started = new double[workers][];
    double[][] ended = new double[workers][];
    double[] updateStarted = new double[workers];
    double[] updateEnded = new double[workers];
    for (int i = 0; i < workers; i++) {
      waited[i] = since(begin, all[i].waited());
      started[i] = since(begin, all[i].started());
      ended[i] = since(begin, all[i].ended());
      updateStarted[i] = (all[i].updateStarted() - begin) / 1e9;
      updateEnded[i] = (all[i].updateEnded() - begin) / 1e9;
    }
    return new RecordedStep(step, seconds, waited, started, ended, updateStarted, updateEnded);
  }

  private static double[] since(long begin, long[] times) {
    return Arrays.stream(times).mapToDouble(time -> (time - begin) / 1e9).toArray();
  }
}
