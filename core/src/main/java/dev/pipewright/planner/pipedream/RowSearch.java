package dev.pipewright.planner.pipedream;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The best pipelines of one level that begin at one place, for every end and number of units.
 *
 * <p>PipeDream's recursion (SOSP 2019, §3.1; its transfers as the authors' program charges them):
 *
 * <pre>
 * one stage, r units:          (T + 4(r−1)P / (B·r·w)) / r
 * last stage after k, r units: max(A[k][m−r], (T + 4(r−1)P / (B·r)) / r, 2·OA[k] / (B·r), 2·OA[end] / (B·r))
 * </pre>
 *
 * with w the units of the level below; the transfers only where they are charged, and none after
 * the network's end. The recursion tries every k. Here k is sought where the two sides meet: the
 * smallest A at or beyond k never falls with k, a lower bound of the last stage never grows, and
 * from the meeting point each direction ends where its bound reaches the best found. Neither A nor
 * T need be monotone for that, so it is exact on chains and on lattices; the price is O(places ·
 * units²) times the few places that are looked at, in the worst case all.
 *
 * <p>Where the number of stages is given, A is also by the number of innermost stages, and a last
 * stage by those that each of its units has: a factor of stages times those of a unit.
 */
final class RowSearch {
  /**
   * One stage of a level's pipeline, on so many of its units.
   *
   * @param stages innermost ones of each unit; 0 where they are not counted
   */
  record Part(int from, int to, int units, int stages) {}

  private final CutCosts costs;
  private final List<StageSeconds> unit; // by innermost stages of it
  private final int fewest; // of those; 0 where they are not counted
  private final int count; // of all innermost stages; 0 where they are not counted
  private final double[] parameters; // bytes before each place
  private final double[] mostParameters;
  private final int most;
  private final double exchange; // seconds that a byte of parameters costs, but for (r−1)/r
  private final double exchangeAlone;
  private final double[] transfer; // seconds over each cut for one replica
  private final int from;
  private final int[] places; // that follow
  private final double[][][] seconds; // by units, by stages, by index of the place
  private final double[][][] beyond; // the smallest from that index on
  private final int[][][] cut; // index of the place before the last stage; -1 for one stage
  private final int[][][] taken; // units of the last stage
  private final int[][][] inner; // innermost stages of each of them

  /**
   * @param unit what one unit takes, by its innermost stages from 0; one number where they are not
   *     counted
   * @param count innermost stages that are wanted at most; 0 where they are not counted
   * @param below units of the level below, by which the authors divide the exchange of a lone stage
   * @param transfer see {@link #transfers}
   */
  RowSearch(
      CutCosts costs,
      List<StageSeconds> unit,
      int count,
      BandwidthLevel level,
      int below,
      double[] transfer,
      int from) {
    this.costs = costs;
    this.unit = unit;
    this.count = count;
    this.fewest = Math.min(1, count);
    this.parameters = costs.parameterBytes();
    this.mostParameters = costs.mostParameterBytes();
    this.most = level.units();
    this.exchange = 4 / level.bytesPerSecond();
    this.exchangeAlone = exchange / below;
    this.transfer = transfer;
    this.from = from;
    this.places = following(costs, from);
    this.seconds = new double[most + 1][count + 1][places.length];
    this.beyond = new double[most + 1][count + 1][places.length];
    this.cut = new int[most + 1][count + 1][places.length];
    this.taken = new int[most + 1][count + 1][places.length];
    this.inner = new int[most + 1][count + 1][places.length];
    for (int units = 0; units <= most; units++) {
      for (int stages = 0; stages <= count; stages++) {
        Arrays.fill(seconds[units][stages], Double.POSITIVE_INFINITY);
        Arrays.fill(beyond[units][stages], Double.POSITIVE_INFINITY);
      }
    }
  }

  /** Seconds that the activations of a mini-batch take over each cut, there and back. */
  static double[] transfers(CutCosts costs, BandwidthLevel level, boolean charged) {
    double[] seconds = new double[costs.last() + 1];
    for (int place = 1; charged && place < costs.last(); place++) {
      seconds[place] = 2 * costs.crossingBytes(place) / level.bytesPerSecond();
    }
    return seconds;
  }

  private static int[] following(CutCosts costs, int from) {
    int[] places = new int[costs.last() - from];
    int size = 0;
    for (int place = from + 1; place <= costs.last(); place++) {
      if (costs.follows(from, place)) {
        places[size++] = place;
      }
    }
    return Arrays.copyOf(places, size);
  }

  /** Fills the row for every end and number of units. */
  RowSearch run() {
    for (int units = 1; units <= most; units++) {
      fill(units, 0);
    }
    return this;
  }

  /**
   * Fills what the best pipeline to the last place needs. When stopped it leaves out numbers of
   * units before the last stage, and returns whether it was not.
   */
  boolean runToTheEnd(BooleanSupplier stop) {
    boolean complete = true;
    for (int units = 1; units < most && complete; units++) {
      fill(units, 0);
      complete = units == most - 1 || !stop.getAsBoolean();
    }
    fill(most, places.length - 1);
    return complete;
  }

  private void fill(int units, int firstEnd) {
    for (int stages = fewest; stages <= count; stages++) {
      fill(units, stages, firstEnd);
    }
  }

  private void fill(int units, int stages, int firstEnd) {
    double share = exchangeAlone * (units - 1) / units;
    for (int end = firstEnd; end < places.length && stages < unit.size(); end++) {
      seconds[units][stages][end] = alone(places[end], units, stages, share);
      cut[units][stages][end] = -1;
      taken[units][stages][end] = units;
      inner[units][stages][end] = stages;
    }
    for (int r = 1; r < units; r++) {
      for (int last = fewest; last < Math.min(unit.size(), stages + 1); last++) {
        divide(units, stages, r, last, firstEnd);
      }
    }
    double smallest = Double.POSITIVE_INFINITY;
    for (int end = places.length - 1; end >= firstEnd; end--) {
      smallest = Math.min(smallest, seconds[units][stages][end]);
      beyond[units][stages][end] = smallest;
    }
  }

  /** Writes what a whole unit of this level takes to tables, by its innermost stages. */
  void copyTo(List<LevelTable> tables) {
    for (int stages = fewest; stages < tables.size(); stages++) {
      for (int end = 0; end < places.length; end++) {
        tables.get(stages).set(from, places[end], seconds[most][stages][end]);
      }
    }
  }

  /** Seconds of the best pipeline over all units to the last place. */
  double toTheEnd() {
    return seconds[most][count][places.length - 1];
  }

  private double alone(int to, int r, int stages, double share) {
    return (unit.get(stages).exact(from, to) + share * (parameters[to] - parameters[from])) / r;
  }

  private double stage(int after, int to, int r, int stages) {
    double gradients = exchange * (r - 1) / r * costs.parameterBytes(after, to);
    return (unit.get(stages).exact(after, to) + gradients) / r;
  }

  /**
   * Tries last stages of {@code r} units with {@code last} innermost stages each: backwards from
   * where what is ahead takes too long, until they do. That place is near to where it was for the
   * end before.
   */
  private void divide(int units, int stages, int r, int last, int firstEnd) {
    double[] ahead = seconds[units - r][stages - last];
    double[] aheadAtLeast = beyond[units - r][stages - last];
    double[] best = seconds[units][stages];
    double[] upTo = unit.get(last).upTo();
    int[] column = unit.get(last).column();
    double[] exact = unit.get(last).from();
    double[] atLeast = unit.get(last).fromAtLeast();
    double share = exchange * (r - 1) / r;
    int tooLong = 0;
    for (int end = firstEnd; end < places.length; end++) {
      int to = places[end];
      double limit = best[end];
      if (transfer[to] / r >= limit) {
        continue;
      }
      while (tooLong < end && aheadAtLeast[tooLong] < limit) {
        tooLong++;
      }
      while (tooLong > 0 && aheadAtLeast[tooLong - 1] >= limit) {
        tooLong--;
      }
      double whole = upTo[to];
      int at = column[to];
      for (int k = tooLong - 1; k >= 0; k--) {
        int place = places[k];
        double bytes = Math.max(0, parameters[to] - mostParameters[place]);
        if ((whole + atLeast[at + place] + share * bytes) / r >= limit) {
          break;
        }
        if (ahead[k] < limit && transfer[place] / r < limit && costs.follows(place, to)) {
          double gradients = share * (parameters[to] - parameters[place]);
          double own = (whole + exact[at + place] + gradients) / r;
          if (own < limit) {
            double moved = Math.max(transfer[place], transfer[to]) / r;
            limit = Math.max(Math.max(ahead[k], own), moved);
            best[end] = limit;
            cut[units][stages][end] = k;
            taken[units][stages][end] = r;
            inner[units][stages][end] = last;
          }
        }
      }
    }
  }

  /** The stages of the best pipeline of so many over all units up to a place, in order. */
  List<Part> parts(int to, int stages) {
    ArrayDeque<Part> parts = new ArrayDeque<>();
    int end = Arrays.binarySearch(places, to);
    int units = most;
    int left = stages;
    while (cut[units][left][end] >= 0) {
      int k = cut[units][left][end];
      int r = taken[units][left][end];
      int last = inner[units][left][end];
      parts.addFirst(new Part(places[k], places[end], r, last));
      units -= r;
      left -= last;
      end = k;
    }
    parts.addFirst(new Part(from, places[end], units, left));
    return List.copyOf(parts);
  }

  /**
   * Seconds of summing the gradients of one of this level's stages, before its units share them.
   */
  double exchange(Part part) {
    double seconds = part.from == from ? exchangeAlone : exchange;
    return seconds * (part.units - 1) / part.units * costs.parameterBytes(part.from, part.to);
  }

  /** Seconds that a stage's transfers over a cut are charged with. */
  double transfer(Part part, int place) {
    return part.from == from ? 0 : transfer[place] / part.units;
  }

  /** The best to the last place among pipelines whose last stage has {@code r} units. */
  double bestWithLast(int r) {
    int end = places.length - 1;
    double best =
        r == most && count < unit.size()
            ? alone(places[end], r, count, exchangeAlone * (r - 1) / r)
            : Double.POSITIVE_INFINITY;
    for (int last = fewest; last < Math.min(unit.size(), count + 1); last++) {
      for (int k = 0; k < end && r < most; k++) {
        if (costs.follows(places[k], places[end])) {
          double ahead = seconds[most - r][count - last][k];
          double slower = Math.max(ahead, stage(places[k], places[end], r, last));
          best = Math.min(best, Math.max(slower, transfer[places[k]] / r));
        }
      }
    }
    return best;
  }
}
