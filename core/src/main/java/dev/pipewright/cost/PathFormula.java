package dev.pipewright.cost;

/**
 * The longest of the simple paths through a 1F1B step: the default cost model.
 *
 * <p>Starts from DAPPLE's latency (Fan et al., PPoPP 2021, §IV-A, formulas 1 and 2) as corrected in
 * {@code docs/papers.md} and goes further in three ways: the pivot stage is the one with the
 * longest path instead of the one that formula 3 walks to; a stage that may hold K micro-batches
 * cannot run faster than K per round trip through the stages behind it, nor, if the next one may
 * hold J, than K−J+1 per round trip to that; the two directions of a link do not wait for each
 * other. Each path is one that a 1F1B step really contains, so the estimate never exceeds the
 * simulated time of the same plan.
 *
 * <p>Label: R, the round trip of one micro-batch; V, from the first forward pass of the first stage
 * to the end of its last backward pass; H, to the end of everything; D, the last micro-batch's way
 * in, to the end of everything; P, the round trip through the first stage only, with the transfers
 * before it; J, how many micro-batches that stage may hold.
 */
public final class PathFormula implements PipelineFormula {
  /** Has no settings. */
  public PathFormula() {}

  @Override
  public String name() {
    return "pipewright";
  }

  @Override
  public boolean isLongestPath() {
    return true;
  }

  @Override
  public int width() {
    return 6;
  }

  @Override
  public void nothing(double[] label, int at) {
    label[at] = 0;
    label[at + 1] = 0;
    label[at + 2] = 0;
    label[at + 3] = 0;
    label[at + 4] = 0;
    label[at + 5] = 0;
  }

  @Override
  public void stage(
      double[] pool,
      int from,
      double forward,
      double backward,
      double tail,
      int microBatches,
      int inFlight,
      int to) {
    double both = forward + backward;
    double behind = pool[from]; // the round trip through the stages behind
    double roundTrip = behind + both;
    double entry = pool[from + 3];
    int rest = microBatches - inFlight;
    double own = microBatches * both;
    double atStart = forward + behind + microBatches * backward + rest * forward;
    double atEnd = microBatches * forward + rest * backward + behind + backward;
    int rounds = (microBatches - 1) / inFlight;
    int beyond = microBatches - 1 - rounds * inFlight;
    double inRounds = (rounds + 1) * roundTrip + beyond * max(forward, backward);
    double withNext = roundTrip + inTurns(pool, from, both, backward, rest, inFlight);
    double last =
        max(max(pool[from + 1] + both, own), max(max(atStart, atEnd), max(inRounds, withNext)));
    pool[to + 2] =
        max(
            max(forward + pool[from + 2], last + tail),
            microBatches * forward + rest * backward + entry);
    pool[to + 3] = max(forward + entry, roundTrip + tail);
    pool[to] = roundTrip;
    pool[to + 1] = last;
    pool[to + 4] = both;
    pool[to + 5] = inFlight;
  }

  /**
   * What comes after the first micro-batch's backward pass when the stage and the next take turns:
   * a backward pass lets the forward pass of K micro-batches later go, that one the next stage's,
   * and what the next stage then does backward was J−1 micro-batches earlier.
   */
  private static double inTurns(
      double[] pool, int from, double both, double backward, int rest, int inFlight) {
    double next = pool[from + 4];
    if (next == 0 || rest <= 0) {
      return 0;
    }
    int step = inFlight - (int) pool[from + 5] + 1;
    if (step < 1) {
      return 0;
    }
    int turns = (rest - 1) / step + 1;
    int after = rest + inFlight - 1 - turns * step;
    return turns * (both + next) + after * backward;
  }

  @Override
  public void transfer(
      double[] pool, int from, double there, double back, int microBatches, int to) {
    double roundTrip = pool[from] + there + back;
    double entry = pool[from + 3];
    double slower = max(there, back);
    pool[to + 1] = max(pool[from + 1] + there + back, roundTrip + (microBatches - 1) * slower);
    pool[to + 2] = max(there + pool[from + 2], microBatches * there + entry);
    pool[to + 3] = there + entry;
    pool[to] = roundTrip;
    pool[to + 4] = pool[from + 4] + there + back;
    pool[to + 5] = pool[from + 5];
  }

  @Override
  public double seconds(double[] pool, int at) {
    return pool[at + 2];
  }

  @Override
  public double path(double[] pool, int at) {
    return pool[at + 1];
  }

  @Override
  public boolean pathsAddUp() {
    return true;
  }

  @Override
  public double bound(double[] pool, int at, double slowest, double delay, int microBatches) {
    return max(max(pool[at + 1] + delay, pool[at + 2]), microBatches * slowest);
  }

  /** For values that are never NaN: cheaper than Math.max, which also orders the zeros. */
  private static double max(double a, double b) {
    return a > b ? a : b;
  }
}
