package dev.pipewright.planner.madpipe;

import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.schedule.periodic.Discipline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether one stage per device can keep up with a period within memory: a dynamic program from the
 * last layer.
 *
 * <p>Of all ways to cut the layers behind a position into so many stages only the one with the
 * lowest group, and in it the least seconds, matters: whatever comes before ends in no higher group
 * and needs no more memory behind it. A transfer joins the groups before its stage does.
 *
 * <p>O(devices · layers²). Periods are compared with sums as the groups of 1F1B* are summed; {@link
 * #below} and {@link #above} are the sums around the period that was asked for, between which no
 * answer changes.
 */
final class ContiguousPeriodSearch {
  /** Layers of stages between two questions whether to stop: small searches have an answer. */
  private static final int ASK = 1 << 17;

  private final LayerChain chain;
  private final int devices; // stages at most
  private final int fewest; // stages at least
  private final double capacity;
  private final Discipline discipline;
  private final Recomputation recomputation;
  private final @Nullable TradeOffs tradeOffs; // null where nothing runs again
  private final int[][] group; // by stages and first layer; 0: impossible
  private final double[][] used; // seconds in that group
  private final int[][] cut; // where the next stage begins
  private final BooleanSupplier stop;
  private boolean stopped;
  private int asked; // layers since the last question
  private int[][] keptGroup = {}; // of the last period that was kept up with
  private int[][] keptCut = {};
  private double below;
  private double above;

  /**
   * Prepares a search.
   *
   * @param stop asked now and then; from the first yes on no period is kept up with
   */
  ContiguousPeriodSearch(PeriodicProblem problem, Discipline discipline, BooleanSupplier stop) {
    this.stop = stop;
    chain = problem.chain();
    devices = problem.stages().orElse(Math.min(problem.devices(), chain.layers()));
    fewest = problem.stages().orElse(1);
    capacity = problem.capacityBytes();
    this.discipline = discipline;
    recomputation = problem.recomputation();
    tradeOffs = recomputation == Recomputation.NEVER ? null : problem.tradeOffs();
    group = new int[devices + 1][chain.layers() + 1];
    used = new double[devices + 1][chain.layers() + 1];
    cut = new int[devices + 1][chain.layers() + 1];
  }

  /** Whether the layers can be cut for that period. */
  boolean keepsUp(double period) {
    below = 0;
    above = Double.POSITIVE_INFINITY;
    for (int[] row : group) {
      Arrays.fill(row, 0);
    }
    group[0][chain.layers()] = 1;
    used[0][chain.layers()] = 0;
    for (int stages = 1; stages <= devices; stages++) {
      for (int end = chain.layers(); end >= 1; end--) {
        if (group[stages - 1][end] > 0) {
          extend(stages, end, period);
        }
      }
      if (!stopped && group[stages][0] > 0 && stages >= fewest) {
        keptGroup = copy(group);
        keptCut = copy(cut);
        return true;
      }
    }
    return false;
  }

  private static int[][] copy(int[][] rows) {
    return Arrays.stream(rows).map(int[]::clone).toArray(int[][]::new);
  }

  /** Whether it was asked to stop within an answer, which then is none. */
  boolean stopped() {
    return stopped;
  }

  /** Puts stages in front of those behind {@code end}. */
  private void extend(int stages, int end, double period) {
    int transferred = group[stages - 1][end];
    double seconds = used[stages - 1][end];
    if (end < chain.layers()) {
      double link = chain.cutSeconds(end);
      seconds += link;
      if (exceeds(seconds, period)) {
        transferred++;
        seconds = link;
        if (exceeds(link, period)) {
          return;
        }
      }
    }
    for (int first = end - 1; first >= 0; first--) {
      double own = chain.seconds(first, end);
      asked += end - first;
      if (asked >= ASK) {
        asked = 0;
        stopped |= stop.getAsBoolean();
      }
      if (stopped || exceeds(own, period) || chain.stateBytes(first, end) > capacity) {
        return;
      }
      boolean next = exceeds(seconds + own, period);
      if (tradeOffs == null) {
        int reached = next ? transferred + 1 : transferred;
        if (fits(first, end, discipline.held(reached, stages))) {
          improve(stages, first, end, reached, next ? own : seconds + own);
        }
      } else if (next || !joins(stages, first, end, period, transferred, seconds)) {
        joins(stages, first, end, period, transferred + 1, 0);
      }
    }
  }

  /**
   * Puts a stage into a group, after so many of its seconds. Whether that is all: no where it takes
   * too long for this group.
   */
  private boolean joins(
      int stages, int first, int end, double period, int reached, double seconds) {
    double extra = extra(first, end, discipline.held(reached, stages));
    if (extra == Double.POSITIVE_INFINITY) {
      return true; // a later group holds no less
    }
    double own = chain.seconds(first, end, extra);
    if (exceeds(own, period) || exceeds(seconds + own, period)) {
      return false;
    }
    improve(stages, first, end, reached, seconds + own);
    return true;
  }

  private boolean fits(int first, int end, int held) {
    return held > 0
        && chain.stateBytes(first, end) + held * chain.activationBytes(first, end) <= capacity;
  }

  /** Seconds for layers that run again; infinite where that does not help either. */
  private double extra(int first, int end, int held) {
    boolean fits = fits(first, end, held);
    if (tradeOffs == null || (fits && recomputation == Recomputation.SELECTIVE)) {
      return fits ? 0 : Double.POSITIVE_INFINITY;
    }
    return held == 0
        ? Double.POSITIVE_INFINITY
        : tradeOffs.extraSeconds(first, end, held, capacity - chain.stateBytes(first, end));
  }

  private boolean exceeds(double sum, double period) {
    if (sum > period) {
      above = Math.min(above, sum);
      return true;
    }
    below = Math.max(below, sum);
    return false;
  }

  private void improve(int stages, int first, int end, int reached, double seconds) {
    int known = group[stages][first];
    if (known == 0 || reached < known || (reached == known && seconds < used[stages][first])) {
      group[stages][first] = reached;
      used[stages][first] = seconds;
      cut[stages][first] = end;
    }
  }

  /** The largest sum, not above the period, that it was compared with. */
  double below() {
    return below;
  }

  /** The smallest sum above the period that it was compared with. */
  double above() {
    return above;
  }

  /** The stages of the last period that was kept up with, in the fewest devices. */
  List<Placed> stages() {
    int count = fewest;
    while (keptGroup[count][0] == 0) {
      count++;
    }
    List<Placed> stages = new ArrayList<>();
    int first = 0;
    for (int left = count; left > 0; left--) {
      int end = keptCut[left][first];
      stages.add(new Placed(first, end, count - left, fewer(left, first, end)));
      first = end;
    }
    return stages;
  }

  /** The layers that run again in the stage that is so many from the last. */
  private Optional<Choice> fewer(int stages, int first, int end) {
    int held = discipline.held(keptGroup[stages][first], stages);
    double room = capacity - chain.stateBytes(first, end);
    return tradeOffs == null
            || (extra(first, end, held) == 0 && recomputation == Recomputation.SELECTIVE)
        ? Optional.empty()
        : tradeOffs.choice(first, end, held, room);
  }
}
