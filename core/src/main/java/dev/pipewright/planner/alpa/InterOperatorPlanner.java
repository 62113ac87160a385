package dev.pipewright.planner.alpa;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The pipeline of least latency on all devices: the sum of the stages' times and, for every further
 * micro-batch, the slowest stage's.
 *
 * <p>Paper: L. Zheng et al., <i>Alpa</i>, OSDI 2022, §5.2: minimise {@code Σ t_i + (B − 1) · max
 * t_j} over stages and submeshes that use up all devices. There the longest stage is guessed and a
 * dynamic program run for each guess; here one run keeps, for every number of layers, devices and
 * stages left, the pairs of sum and maximum of which neither is worse than another's, so the answer
 * is exact and guesses are not needed.
 *
 * <p>O(stages · layers² · devices · shapes) steps, times the pairs kept, which the best latency
 * known bounds.
 */
public final class InterOperatorPlanner {
  /**
   * A stage.
   *
   * @param last inclusive
   * @param shape its number in the table
   */
  public record Stage(int first, int last, int shape) {}

  /**
   * The best pipeline.
   *
   * @param latency seconds of a step without updates
   */
  public record Pipeline(double latency, List<Stage> stages) {
    public Pipeline {
      stages = List.copyOf(stages);
    }
  }

  private final StageTable table;
  private final int devices;
  private final int microBatches;
  private final OptionalInt stages;
  private final int layers;
  private final @Nullable Pairs[]
      open; // by layers left · (devices + 1) + devices used, of one stage count
  private double best = Double.POSITIVE_INFINITY;
  private Pairs.@Nullable Step bestStart;

  private InterOperatorPlanner(
      StageTable table, int devices, int microBatches, OptionalInt stages) {
    this.table = table;
    this.stages = stages;
    this.devices = devices;
    this.microBatches = microBatches;
    layers = table.layers();
    open = new @Nullable Pairs[(layers + 1) * (devices + 1)];
  }

  /** The best pipeline of any number of stages. */
  public static Optional<Pipeline> plan(StageTable table, int devices, int microBatches) {
    return plan(table, devices, microBatches, OptionalInt.empty());
  }

  /**
   * Empty where no pipeline fits.
   *
   * @param devices all of which are used
   * @param microBatches of a step
   * @param stages exactly so many; any number where it is empty
   */
  public static Optional<Pipeline> plan(
      StageTable table, int devices, int microBatches, OptionalInt stages) {
    Check.that(devices >= 1, "there are devices: devices=%d", devices);
    Check.that(microBatches >= 1, "a step has micro-batches: micro_batches=%d", microBatches);
    return new InterOperatorPlanner(table, devices, microBatches, stages).run();
  }

  /** From the last stage to the first: how many follow is known then. */
  private Optional<Pipeline> run() {
    Pairs start = new Pairs();
    start.offer(0, 0, null);
    open[place(layers, 0)] = start;
    for (int behind = 0; behind < Math.min(layers, devices); behind++) {
      @Nullable Pairs[] now = open.clone();
      java.util.Arrays.fill(open, null);
      for (int end = layers; end > 0; end--) {
        for (int used = behind; used < devices; used++) {
          Pairs pairs = now[place(end, used)];
          if (pairs != null) {
            prepend(pairs, end, used, behind);
          }
        }
      }
    }
    if (best == Double.POSITIVE_INFINITY) {
      return Optional.empty();
    }
    List<Stage> stages = new ArrayList<>();
    for (Pairs.Step step = bestStart; step != null; step = step.after()) {
      stages.add(step.stage());
    }
    return Optional.of(new Pipeline(best, stages));
  }

  private int place(int end, int used) {
    return end * (devices + 1) + used;
  }

  /** Puts every possible stage before those that are there. */
  private void prepend(Pairs pairs, int end, int used, int behind) {
    for (int shape = 0; shape < table.devices().length; shape++) {
      int total = used + table.devices()[shape];
      if (total > devices) {
        continue;
      }
      int least =
          stages.orElse(behind + 1) == behind + 1 ? 0 : 1; // the first stage is the last found
      for (int first = end - 1; first >= least; first--) {
        double seconds = table.seconds()[first][end - 1][shape];
        if (seconds == Double.POSITIVE_INFINITY
            || table.mostBehind()[first][end - 1][shape] < behind
            || (first == 0) != (total == devices)) {
          continue;
        }
        join(pairs, new Stage(first, end - 1, shape), seconds, total);
      }
    }
  }

  private void join(Pairs pairs, Stage stage, double seconds, int used) {
    for (int i = 0; i < pairs.size(); i++) {
      double sum = pairs.sum(i) + seconds;
      double most = Math.max(pairs.most(i), seconds);
      double latency = sum + (microBatches - 1) * most;
      if (latency >= best) {
        continue; // what comes before only adds
      }
      if (stage.first() == 0) {
        best = latency;
        bestStart = new Pairs.Step(stage, pairs.step(i));
        continue;
      }
      int at = place(stage.first(), used);
      Pairs there = open[at];
      if (there == null) {
        there = new Pairs();
        open[at] = there;
      }
      if (there.isWorthKeeping(sum, most)) {
        there.offer(sum, most, new Pairs.Step(stage, pairs.step(i)));
      }
    }
  }
}
