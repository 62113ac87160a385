package dev.pipewright.planner;

/**
 * Tells whether a pipeline whose stages go there and back over the ranks (two on each, the second
 * in reverse order) can take no more than so many seconds, in whatever order it works, where
 * gradients of weights may come after those of inputs.
 *
 * <p>Rank r has stages r and 2R−1−r, of which the second is later in the network. In every order:
 *
 * <ul>
 *   <li>The rank begins when a micro-batch has passed all layers before its first stage, does all
 *       its passes, and one of its two sums of gradients is last.
 *   <li>Its second stage begins when a micro-batch has passed all layers before it, does its
 *       passes, and sums.
 *   <li>No backward pass of its first stage begins before a micro-batch has passed all layers and
 *       come back to it.
 *   <li>Of a micro-batch, gradients of inputs come back through the second stage first. So after
 *       the last pass of the first stage only gradients of the second one's weights are left: if
 *       there are any, both sums follow, one after the other; otherwise nothing hides the first
 *       stage's last sum.
 * </ul>
 *
 * <p>Each rank recomputes what its memory demands ({@link FoldedMemory}): a stage keeps what it
 * does from the start of its forward pass until the micro-batch has come back to it.
 *
 * <p>Where two pipelines run through the ranks from both ends, two ranks have the same two stages
 * and half of the micro-batches each, so the same holds, but for the sums, of half as many ranks.
 *
 * <p>Ranks are gone through from the ends of the network inwards: which layers are left decides
 * what the other ranks need. O(ranks · layers⁴), confined by the work that a rank has time for.
 */
final class FoldedBound {
  private final LayerLoads loads;
  private final FoldedMemory memory;
  private final double[] rest;
  private final double[] sends;
  private final int microBatches;
  private final double[] forward; // of all runs before each end, likewise the others
  private final double[] inputs;
  private final double[] weights;
  private final double[] passes;
  private final double[] tail;

  /**
   * Of a grid.
   *
   * @param loads with split backward passes where the schedule splits them
   * @param memory of a rank
   * @param tail seconds after its last pass that each run of layers adds to a stage's sum of
   *     gradients, at least
   * @param rest seconds that the first run adds beyond that where nothing hides its sum
   * @param sends seconds of messages from the first rank to each, from rank to rank, at least
   */
  FoldedBound(
      LayerLoads loads,
      FoldedMemory memory,
      double[] tail,
      double[] rest,
      double[] sends,
      int microBatches) {
    this.loads = loads;
    this.memory = memory;
    this.rest = rest;
    this.sends = sends;
    this.microBatches = microBatches;
    int size = loads.size();
    this.forward = new double[size + 1];
    this.inputs = new double[size + 1];
    this.weights = new double[size + 1];
    this.passes = new double[size + 1];
    this.tail = new double[size + 1];
    for (int at = 0; at < size; at++) {
      double later = Math.min(loads.weights()[at], loads.backward()[at]);
      forward[at + 1] = forward[at] + loads.forward()[at];
      inputs[at + 1] = inputs[at] + loads.backward()[at] - later;
      weights[at + 1] = weights[at] + later;
      passes[at + 1] = passes[at] + loads.passes(at);
      this.tail[at + 1] = this.tail[at] + tail[at];
    }
  }

  /** Whether some cut could take no more than so many seconds. */
  boolean isPossible(double seconds) {
    int size = loads.size();
    boolean[][] left = new boolean[size + 1][size + 1]; // runs that the ranks so far leave
    left[0][size] = true;
    for (int rank = 0; rank < sends.length; rank++) {
      boolean[][] next = new boolean[size + 1][size + 1];
      boolean any = false;
      for (int from = 0; from <= size; from++) {
        for (int to = from; to <= size; to++) {
          if (left[from][to]) {
            any |= extend(from, to, rank, seconds, next);
          }
        }
      }
      if (!any) {
        return false;
      }
      left = next;
    }
    return true;
  }

  /** Gives a rank the first and the last of the runs that are left. */
  private boolean extend(int from, int to, int rank, double seconds, boolean[][] next) {
    boolean any = false;
    int others = sends.length - 1 - rank;
    int inner = 2 * others; // runs that the other ranks need at least
    for (int first = from + 1; first <= to - 1 - inner; first++) {
      if (forward[from] + sends[rank] + microBatches * (passes[first] - passes[from]) > seconds) {
        break; // and so do all that end later
      }
      int lowest = others == 0 ? first : first + inner;
      int highest = others == 0 ? first : to - 1;
      for (int second = highest; second >= lowest; second--) {
        double work = passes[first] - passes[from] + passes[to] - passes[second];
        if (forward[from] + sends[rank] + microBatches * work > seconds) {
          break; // and so do all that begin earlier
        }
        boolean enough = microBatches * (passes[second] - passes[first]) <= others * seconds;
        if (enough && !next[first][second] && fits(rank, from, first, second, to, seconds)) {
          next[first][second] = true;
          any = true;
        }
      }
    }
    return any;
  }

  /** Whether a rank has time for runs {@code from..first-1} and {@code second..to-1}. */
  private boolean fits(int rank, int from, int first, int second, int to, double seconds) {
    int size = loads.size();
    double sum = tail[first] - tail[from];
    double other = tail[to] - tail[second];
    double work =
        forward[from]
            + sends[rank]
            + microBatches * (passes[first] - passes[from] + passes[to] - passes[second]);
    double ofSecond = forward[second] + microBatches * (passes[to] - passes[second]) + other;
    double ofFirst =
        forward[size]
            + inputs[size]
            - inputs[first]
            + microBatches * (inputs[first] - inputs[from] + weights[first] - weights[from])
            + sum;
    double later = microBatches * (weights[to] - weights[second]);
    double end = Math.min(work - later + sum + other, work + sum + rest[from]);
    double most = Math.max(Math.max(work + Math.min(sum, other), ofSecond), Math.max(ofFirst, end));
    return most <= seconds && work + recomputed(rank, from, first, second, to, seconds) <= seconds;
  }

  /** Seconds in which a rank runs forward passes a second time. */
  private double recomputed(int rank, int from, int first, int second, int to, double seconds) {
    int size = loads.size();
    double through = forward[size] + inputs[size];
    return microBatches
        * memory.seconds(
            new FoldedMemory.Stages(rank, from, first, second, to),
            microBatches * (through - forward[from] - inputs[from]),
            microBatches * (through - forward[second] - inputs[second]),
            seconds);
  }
}
