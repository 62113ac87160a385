package dev.pipewright.cost;

/**
 * The longest of the simple paths through a 1F1B step: the default cost model.
 *
 * <p>Starts from DAPPLE's latency (Fan et al., PPoPP 2021, §IV-A, formulas 1 and 2) as corrected in
 * {@code docs/papers.md} and goes further in three ways: the pivot stage is the one with the
 * longest path instead of the one that formula 3 walks to; a stage that may hold K micro-batches
 * cannot run faster than K per round trip through the stages behind it; the two directions of a
 * link do not wait for each other. Each path is one that a 1F1B step really contains, so the
 * estimate never exceeds the simulated time of the same plan.
 *
 * <p>Label: R, the round trip of one micro-batch; V, from the first forward pass of the first stage
 * to the end of its last backward pass; H, to the end of everything; D, the last micro-batch's way
 * in, to the end of everything.
 */
public final class PathFormula implements PipelineFormula {
  @Override
  public String name() {
    return "pipewright";
  }

  @Override
  public int width() {
    return 4;
  }

  @Override
  public void nothing(double[] label, int at) {
    label[at] = 0;
    label[at + 1] = 0;
    label[at + 2] = 0;
    label[at + 3] = 0;
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
    double last = max(max(pool[from + 1] + both, own), max(max(atStart, atEnd), inRounds));
    pool[to + 2] =
        max(
            max(forward + pool[from + 2], last + tail),
            microBatches * forward + rest * backward + entry);
    pool[to + 3] = max(forward + entry, roundTrip + tail);
    pool[to] = roundTrip;
    pool[to + 1] = last;
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
  public double bound(double[] pool, int at, double slowest, double delay, int microBatches) {
    return max(max(pool[at + 1] + delay, pool[at + 2]), microBatches * slowest);
  }

  /** For values that are never NaN: cheaper than Math.max, which also orders the zeros. */
  private static double max(double a, double b) {
    return a > b ? a : b;
  }
}
