package dev.pipewright.planner.memory;

import dev.pipewright.planner.Planning.Candidate;
import java.util.Arrays;
import java.util.Optional;

/**
 * The hybrid plan whose fullest device holds least, exactly.
 *
 * <p>Dynamic program from the end: the smallest peak of the stages that begin at a layer, have so
 * many devices and so many of them; what a stage holds depends on nothing else. O(stages · devices
 * · layers² · degrees). Of degrees that need as much those with fewer tensor groups win, whose
 * devices talk less.
 */
final class LeastPeak {
  private final HybridRound round;
  private final int layers;
  private final int devices;
  private final double[][][] least; // by stages behind and itself, devices used, first layer
  private final int[][][] ends;
  private final int[][][] kinds;
  private double limit; // stages that hold more are of no interest

  private LeastPeak(HybridRound round, double limit) {
    this.round = round;
    this.limit = limit;
    this.layers = round.layers();
    this.devices = round.devices;
    int stages = round.mostStages();
    this.least = new double[stages + 1][devices + 1][layers + 1];
    this.ends = new int[stages + 1][devices + 1][layers + 1];
    this.kinds = new int[stages + 1][devices + 1][layers + 1];
  }

  /**
   * Empty where not all devices of the round can be used, or every plan has a larger peak than
   * {@code limit}.
   */
  static Optional<Candidate> of(HybridRound round, double limit) {
    return new LeastPeak(round, limit).solve();
  }

  private Optional<Candidate> solve() {
    for (double[][] some : least) {
      for (double[] row : some) {
        Arrays.fill(row, Double.POSITIVE_INFINITY);
      }
    }
    least[0][0][layers] = 0;
    int best = 0;
    for (int stages = 1; stages < least.length; stages++) {
      for (int kind = 0; kind < round.degrees.length; kind++) {
        extend(stages, kind);
      }
      if (round.allows(stages) && least[stages][devices][0] < least[best][devices][0]) {
        best = stages;
        limit = Math.min(limit, least[best][devices][0]);
      }
    }
    return best == 0 ? Optional.empty() : Optional.of(plan(best));
  }

  /** Puts a stage with these degrees before all that there is of one stage fewer. */
  private void extend(int stages, int kind) {
    Degrees own = round.degrees[kind];
    int inFlight = round.inFlight(stages - 1);
    for (int used = 0; used + own.devices() <= devices; used++) {
      double[] rest = least[stages - 1][used];
      double[] to = least[stages][used + own.devices()];
      for (int end = layers; end > 0; end--) {
        if (rest[end] > limit || rest[end] == Double.POSITIVE_INFINITY) {
          continue;
        }
        for (int first = end - 1; first >= 0; first--) {
          double atLeast = round.relief.atLeast(first, end, own, round.samples, inFlight);
          if (atLeast > limit) {
            break; // and more with every further layer
          }
          if (Math.max(rest[end], atLeast) >= to[first]
              || !round.costs.costs().isStage(first, end)) {
            continue;
          }
          double bytes = round.relief.leastBytes(first, end, own, round.samples, inFlight);
          double peak = Math.max(rest[end], bytes);
          if (peak < to[first] && peak <= limit) {
            to[first] = peak;
            ends[stages][used + own.devices()][first] = end;
            kinds[stages][used + own.devices()][first] = kind;
          }
        }
      }
    }
  }

  private Candidate plan(int stages) {
    int[] firsts = new int[stages];
    int[] chosen = new int[stages];
    int used = devices;
    int first = 0;
    for (int s = 0; s < stages; s++) {
      firsts[s] = first;
      chosen[s] = kinds[stages - s][used][first];
      int end = ends[stages - s][used][first];
      used -= round.degrees[chosen[s]].devices();
      first = end;
    }
    return round.plan(firsts, chosen, least[stages][devices][0]);
  }
}
