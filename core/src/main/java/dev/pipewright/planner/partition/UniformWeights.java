package dev.pipewright.planner.partition;

/**
 * Cuts a chain into stages so that the heaviest weighs as little as possible: by parameters,
 * DeepSpeed's default {@code partition_method="parameters"}; by seconds, the fastest pipeline where
 * transfers cost nothing.
 *
 * <p>Paper: A. Pınar, C. Aykanat, <i>Fast optimal load balancing algorithms for 1D
 * partitioning</i>, JPDC 64 (2004), doi:10.1016/j.jpdc.2004.05.003, §4: exact bisection. A probe
 * fills stages from the left up to a limit. A limit that suffices comes down to the heaviest stage
 * that the probe made, one that does not goes up to the least sum at which the probe would have
 * done anything else; so the search ends at the optimum and not near it. O(stages · log layers) for
 * each probe. Departs: every stage gets a layer.
 */
public final class UniformWeights {
  private final PrefixSums sums;
  private final int stages;
  private final int[] firsts;
  private double heaviest; // of the last probe
  private double next; // the least limit at which it would have filled a stage otherwise

  private UniformWeights(double[] weights, int stages) {
    this.sums = new PrefixSums(weights);
    this.stages = stages;
    this.firsts = new int[stages];
  }

  /** The first layer of each stage. */
  public static int[] firsts(double[] weights, int stages) {
    UniformLayers.checkStages(weights.length, stages);
    return new UniformWeights(weights, stages).best();
  }

  /** The weight of the heaviest stage. */
  public static double heaviest(double[] weights, int[] firsts) {
    PrefixSums sums = new PrefixSums(weights);
    double most = 0;
    for (int stage = 0; stage < firsts.length; stage++) {
      int end = stage + 1 < firsts.length ? firsts[stage + 1] : weights.length;
      most = Math.max(most, sums.sum(firsts[stage], end));
    }
    return most;
  }

  private int[] best() {
    double low = Math.max(sums.largest, sums.total() / stages); // nothing below suffices
    double high = sums.total();
    double limit = low;
    do {
      if (probe(limit)) {
        high = heaviest;
      } else {
        low = next;
      }
      double middle = low + (high - low) / 2;
      limit = middle < high ? middle : low; // neighbours have no middle
    } while (low < high);
    probe(low);
    return firsts;
  }

  /** Whether stages that weigh no more than {@code limit} take everything. */
  private boolean probe(double limit) {
    heaviest = 0;
    next = Double.POSITIVE_INFINITY;
    int first = 0;
    for (int stage = 0; stage < stages; stage++) {
      firsts[stage] = first;
      int behind = stages - 1 - stage;
      int room = sums.size() - behind; // a layer for each of those
      int reach = Math.max(sums.reach(first, room, limit), first + 1);
      int end = behind == 0 ? room : reach;
      double weight = sums.sum(first, end);
      heaviest = Math.max(heaviest, weight);
      if (weight > limit) {
        next = Math.min(next, weight);
      } else if (end < room) {
        next = Math.min(next, sums.sum(first, end + 1));
      }
      first = end;
    }
    return heaviest <= limit;
  }
}
