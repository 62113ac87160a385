package dev.pipewright.planner.madpipe;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The shortest period of a pattern whose ops keep their orders and batches: the largest ratio of a
 * cycle's seconds to the periods that it spans.
 *
 * <p>An op follows the one before it in its batch, and the one before it on its rank, which may
 * work on another batch: an edge spans as many periods. Found by Newton's method: from a period
 * that is too short, longest paths run into a cycle that asks for a longer one, until none does (E.
 * Lawler, <i>Combinatorial Optimization</i>, 1976, §3.13). O(ops²) for each of a few cycles.
 */
final class Tightening {
  /**
   * A pattern of one batch.
   *
   * @param starts of batch 0, by link
   */
  record Tight(double period, double[] starts) {}

  private record Edge(int from, int to, double seconds, int periods) {}

  private static final double TOLERANCE = 1e-12;

  private final Ops ops;
  private final List<Edge> edges = new ArrayList<>();

  private Tightening(Ops ops) {
    this.ops = ops;
  }

  /**
   * The same orders, sooner.
   *
   * @param starts of batch 0, by link, of a pattern that can run
   */
  static Tight of(Ops ops, double[] starts, double period) {
    Tightening all = new Tightening(ops);
    double busiest = 0;
    for (int link = 1; link < ops.links(); link++) {
      all.edges.add(new Edge(link - 1, link, ops.seconds(link - 1), 0));
    }
    for (int rank = 0; rank < ops.allocation().rankCount(); rank++) {
      busiest = Math.max(busiest, all.rank(rank, starts, period));
    }
    return all.shortest(busiest, new Tight(period, starts));
  }

  /** Adds the edges of a rank; returns its seconds. */
  private double rank(int rank, double[] starts, double period) {
    List<int[]> turn = new ArrayList<>(); // link and whole periods before its start
    double busy = 0;
    for (int link = 0; link < ops.links(); link++) {
      if (ops.rank(link) == rank) {
        int periods = (int) Math.floor(starts[link] / period + 1e-10);
        turn.add(new int[] {link, periods});
        busy += ops.seconds(link);
      }
    }
    turn.sort(
        Comparator.comparingDouble((int[] op) -> within(starts, op, period))
            .thenComparingDouble(op -> ops.seconds(op[0]))
            .thenComparingInt(op -> op[0]));
    for (int i = 0; i < turn.size(); i++) {
      int[] op = turn.get(i);
      boolean last = i == turn.size() - 1;
      int[] next = turn.get(last ? 0 : i + 1);
      int periods = op[1] - next[1] + (last ? 1 : 0);
      edges.add(new Edge(op[0], next[0], ops.seconds(op[0]), periods));
    }
    return busy;
  }

  /** The start in its period, without the dust of rounding. */
  private static double within(double[] starts, int[] op, double period) {
    double rest = starts[op[0]] - op[1] * period;
    return Math.round(rest / period * 1e10);
  }

  private Tight shortest(double least, Tight known) {
    double period = least;
    for (int round = 0; round < 200 && period < known.period(); round++) {
      double[] longest = new double[ops.links()];
      double ratio = cycle(period, longest);
      if (Double.isNaN(ratio)) {
        return new Tight(period, longest);
      }
      if (ratio <= period) { // within rounding
        period *= 1 + TOLERANCE;
      } else {
        period = ratio;
      }
    }
    return known;
  }

  /** The ratio of a cycle that asks for more than the period; not a number where none does. */
  private double cycle(double period, double[] longest) {
    int[] by = new int[longest.length];
    Arrays.fill(by, -1);
    int moved = -1;
    for (int round = 0; round <= longest.length; round++) {
      moved = -1;
      for (int i = 0; i < edges.size(); i++) {
        Edge edge = edges.get(i);
        double start = longest[edge.from()] + edge.seconds() - edge.periods() * period;
        if (start > longest[edge.to()] + TOLERANCE * period * longest.length) {
          longest[edge.to()] = start;
          by[edge.to()] = i;
          moved = edge.to();
        }
      }
      if (moved < 0) {
        return Double.NaN;
      }
    }
    for (int i = 0; i < longest.length; i++) { // back until on the cycle
      moved = edges.get(by[moved]).from();
    }
    double seconds = 0;
    int periods = 0;
    int at = moved;
    do {
      Edge edge = edges.get(by[at]);
      seconds += edge.seconds();
      periods += edge.periods();
      at = edge.from();
    } while (at != moved);
    return periods > 0 ? seconds / periods : Double.POSITIVE_INFINITY;
  }
}
