package dev.pipewright.compare;

import dev.pipewright.execution.MeasuredRun;
import dev.pipewright.execution.RecordedStep;
import dev.pipewright.execution.StealTime;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.plan.Assignment;
import dev.pipewright.predict.run.RunPrediction;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What was predicted, simulated and measured of a step, item by item. {@link Double#NaN} stands for
 * what is not known.
 *
 * @param predicted a step alone without anything in the way of messages
 * @param simulated a step alone
 * @param measured a step that others on the machine disturbed least, as profiles do
 * @param items of the step, its stages, kinds of ops, exchanges and memory
 * @param stolen while it was measured
 */
public record Comparison(
    Run predicted, Run simulated, Run measured, List<Item> items, StealTime stolen) {
  private static final String IDLE_SHARE = "idle share";
  private static final String MEDIAN = "median of all steps";
  private static final String IDEAL = "ops as measured, messages free";

  /** What an item is of. */
  public enum Scope {
    STEP,
    STAGE,
    OP,
    EXCHANGE,
    MEMORY
  }

  /** Of one quantity: seconds, a share or bytes. */
  public record Item(
      Scope scope, String name, double predicted, double simulated, double measured) {
    /** Whether it is a part of the step instead of seconds or bytes. */
    public boolean isShare() {
      return name.equals(IDLE_SHARE);
    }

    /** By how much of the measured value the predicted one is too large. */
    public double predictedError() {
      return predicted / measured - 1;
    }

    /** The same of the simulated one. */
    public double simulatedError() {
      return simulated / measured - 1;
    }
  }

  public Comparison {
    items = List.copyOf(items);
  }

  /** The whole step: the item that a tolerance is for. */
  public Item step() {
    return items.get(0);
  }

  public static Comparison of(
      RunPrediction runPrediction, Assignment assignment, TrainingOutcome outcome, boolean memory) {
    if (assignment.asyncPipeline().isPresent()) {
      return ofFlow(runPrediction, assignment, outcome, memory);
    }
    Builder builder = new Builder(runPrediction, assignment, outcome.calm());
    builder.step(outcome.typical());
    builder.stages();
    builder.ops();
    builder.exchanges();
    if (memory) {
      builder.memory(outcome.workers());
    }
    return builder.built(outcome.stolen());
  }

  /** Of steps that flow into one another: of a single one in the middle. */
  private static Comparison ofFlow(
      RunPrediction runPrediction, Assignment assignment, TrainingOutcome outcome, boolean memory) {
    Builder builder =
        new Builder(
            runPrediction,
            assignment,
            outcome.calm(),
            runPrediction.oneOf(runPrediction.longestPath()),
            runPrediction.oneOf(runPrediction.simulate()),
            MeasuredRun.ofFlow(assignment.over(outcome.steps().size()), outcome.calm()));
    builder.seconds(outcome.typical());
    builder.stages();
    builder.ops();
    if (memory) {
      builder.memory(outcome.workers());
    }
    return builder.built(outcome.stolen());
  }

  private static final class Builder {
    private final RunPrediction runPrediction;
    private final Assignment assignment;
    private final Placement placement;
    private final RecordedStep recorded;
    private final Run predicted;
    private final Run simulated;
    private final Run measured;
    private final List<Item> items = new ArrayList<>();

    private Comparison built(StealTime stolen) {
      return new Comparison(predicted, simulated, measured, items, stolen);
    }

    private Builder(RunPrediction runPrediction, Assignment assignment, RecordedStep recorded) {
      this(
          runPrediction,
          assignment,
          recorded,
          runPrediction.longestPath(),
          runPrediction.simulate(),
          MeasuredRun.of(assignment, recorded));
    }

    private Builder(
        RunPrediction runPrediction,
        Assignment assignment,
        RecordedStep recorded,
        Run predicted,
        Run simulated,
        Run measured) {
      this.runPrediction = runPrediction;
      this.assignment = assignment;
      this.placement = assignment.schedule().placement();
      this.recorded = recorded;
      this.predicted = predicted;
      this.simulated = simulated;
      this.measured = measured;
    }

    private void add(Scope scope, String name, double foretold, double run, double real) {
      items.add(new Item(scope, name, foretold, run, real));
    }

    private void step(RecordedStep typical) {
      seconds(typical);
      add(
          Scope.STEP,
          "first op to last",
          predicted.makespan(),
          simulated.makespan(),
          measured.makespan());
      add(Scope.STEP, IDEAL, Double.NaN, IdealRun.seconds(measured), measured.makespan());
      add(
          Scope.STEP,
          IDLE_SHARE,
          predicted.idleShare(),
          simulated.idleShare(),
          measured.idleShare());
    }

    private void seconds(RecordedStep typical) {
      seconds("step", recorded);
      seconds(MEDIAN, typical);
    }

    private void seconds(String name, RecordedStep real) {
      add(
          Scope.STEP,
          name,
          runPrediction.predictedStepSeconds(),
          runPrediction.simulatedStepSeconds(),
          real.seconds());
    }

    /** Seconds of passes and update of each stage, on all ranks that hold it. */
    private void stages() {
      double[] foretold = ofStages(predicted);
      double[] run = ofStages(simulated);
      double[] real = ofStages(measured);
      for (int depth = 0; depth < foretold.length; depth++) {
        add(Scope.STAGE, "stage " + depth, foretold[depth], run[depth], real[depth]);
      }
    }

    private double[] ofStages(Run run) {
      double[] seconds = new double[placement.depth()];
      for (int rank = 0; rank < placement.ranks(); rank++) {
        long[] program = run.schedule().packed(rank);
        for (int i = 0; i < program.length; i++) {
          if (!Schedule.pass(program[i]).exchanges()) {
            seconds[Schedule.stage(program[i]) % seconds.length] +=
                run.end(rank, i) - run.start(rank, i);
          }
        }
      }
      return seconds;
    }

    /** The mean of each kind. */
    private void ops() {
      Map<Pass, double[]> run = ofKinds(simulated);
      Map<Pass, double[]> real = ofKinds(measured);
      ofKinds(predicted)
          .forEach((pass, sums) -> {
            if (!pass.exchanges()) {
              add(Scope.OP, word(pass), mean(sums), mean(run, pass), mean(real, pass));
            }
          });
    }

    private static String word(Pass pass) {
      return pass.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static double mean(Map<Pass, double[]> kinds, Pass pass) {
      return mean(kinds.getOrDefault(pass, new double[2]));
    }

    private static double mean(double[] sums) {
      return sums[0] / sums[1];
    }

    /** Sum and count of each kind. */
    private static Map<Pass, double[]> ofKinds(Run run) {
      Map<Pass, double[]> kinds = new EnumMap<>(Pass.class);
      for (int rank = 0; rank < run.schedule().ranks(); rank++) {
        long[] program = run.schedule().packed(rank);
        for (int i = 0; i < program.length; i++) {
          double[] sums = kinds.computeIfAbsent(Schedule.pass(program[i]), pass -> new double[2]);
          sums[0] += run.end(rank, i) - run.start(rank, i);
          sums[1]++;
        }
      }
      return kinds;
    }

    /** Messages that workers waited for, and sums of gradients behind a worker's last pass. */
    private void exchanges() {
      OpTimes times = runPrediction.times();
      for (int stage = 0; stage + 1 < placement.stages(); stage++) {
        if (!placement.last(stage) && placement.rankOf(stage) != placement.rankOf(stage + 1)) {
          String name = "stage " + stage + " to " + (stage + 1);
          double there = times.there()[stage];
          add(Scope.EXCHANGE, name, there, there, awaited(stage, stage + 1));
          double back = times.back()[stage];
          String reverse = "stage " + (stage + 1) + " to " + stage;
          add(Scope.EXCHANGE, reverse, back, back, awaited(stage + 1, stage));
        }
      }
      for (int depth = 0; depth < placement.depth(); depth++) {
        double sum = times.step().reduce()[depth];
        if (assignment.holderCount(depth) > 1 && summed(depth)) {
          add(Scope.EXCHANGE, "gradients of stage " + depth, sum, sum, reduced(depth));
        }
      }
    }

    /** Whether anybody sums the stage's gradients: not where each worker has its own piece. */
    private boolean summed(int depth) {
      return !assignment.stages().get(depth).split().several()
          || runPrediction.times().step().reduce()[depth] > 0;
    }

    /**
     * The median from the end of an op to the start of the one that waited for its output; 0 where
     * that came before its sender had gone on.
     */
    private double awaited(int from, int to) {
      List<Double> seconds = new ArrayList<>();
      int sender = placement.rankOf(from);
      int receiver = placement.rankOf(to);
      for (int at = 0; at < program(receiver).length; at++) {
        long op = program(receiver)[at];
        Pass pass = Schedule.pass(op);
        boolean takes = to > from ? pass == Pass.FORWARD : pass.propagates();
        if (takes && Schedule.stage(op) == to) {
          int produced = produced(sender, from, Schedule.microBatch(op), to > from);
          double sent = mean(recorded.ended(), sender, produced);
          if (mean(recorded.waited(), receiver, at) < sent) {
            seconds.add(Math.max(0, mean(recorded.started(), receiver, at) - sent));
          }
        }
      }
      seconds.sort(Double::compare);
      return seconds.isEmpty() ? Double.NaN : seconds.get(seconds.size() / 2);
    }

    private int produced(int rank, int stage, int microBatch, boolean forward) {
      long[] program = program(rank);
      for (int at = 0; at < program.length; at++) {
        Pass pass = Schedule.pass(program[at]);
        if (Schedule.stage(program[at]) == stage
            && Schedule.microBatch(program[at]) == microBatch
            && (forward ? pass == Pass.FORWARD : pass.propagates())) {
          return at;
        }
      }
      throw new IllegalStateException("no worker sends what is received: stage=" + stage);
    }

    private long[] program(int rank) {
      return assignment.schedule().packed(rank);
    }

    /** Over the workers of a rank. */
    private double mean(double[][] times, int rank, int position) {
      double sum = 0;
      int first = assignment.firstWorker(rank);
      for (int i = 0; i < assignment.workers().get(rank); i++) {
        sum += times[first + i][position];
      }
      return sum / assignment.workers().get(rank);
    }

    /**
     * What of the sum no computing hides: from the last pass of the last worker, of whatever stage,
     * until all have the sum.
     */
    private double reduced(int depth) {
      double passed = Double.NEGATIVE_INFINITY;
      double summed = Double.NEGATIVE_INFINITY;
      for (int worker : assignment.holders(depth)) {
        for (double end : recorded.ended()[worker]) {
          passed = Math.max(passed, end);
        }
        summed = Math.max(summed, recorded.updateStarted()[worker]);
      }
      return summed - passed;
    }

    private void memory(List<TrainingOutcome.Worker> workers) {
      double[] peaks = runPrediction.peakBytes();
      for (TrainingOutcome.Worker worker : workers) {
        double bytes = peaks[worker.rank()];
        add(Scope.MEMORY, "worker " + worker.worker(), bytes, bytes, (double) worker.peakBytes());
      }
    }
  }
}
