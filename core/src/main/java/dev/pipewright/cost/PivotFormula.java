package dev.pipewright.cost;

/**
 * DAPPLE's pipeline latency: warm-up, steady phase and ending around a pivot stage.
 *
 * <p>Paper: S. Fan et al., <i>DAPPLE: A Pipelined Data Parallel Approach for Training Large
 * Models</i>, PPoPP 2021, §IV-A formulas 1 and 2, §IV-C formula 3 for the pivot; transfers are
 * stages. {@code CORRECTED} has the ending phase that belongs to the pivot's last backward pass
 * (see {@code docs/papers.md}); {@code PUBLISHED} is the paper's, for comparison.
 *
 * <p>Label: X, formula 3's threshold for the pivot to move; V, the path through the pivot; H, that
 * path to the end of everything; D, the ending phase if the pivot were just before.
 */
public final class PivotFormula implements PipelineFormula {
  public static final PivotFormula CORRECTED = new PivotFormula("dapple", true);
  public static final PivotFormula PUBLISHED = new PivotFormula("dapple-published", false);

  private final String name;
  private final boolean corrected;

  private PivotFormula(String name, boolean corrected) {
    this.name = name;
    this.corrected = corrected;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int width() {
    return 4;
  }

  @Override
  public void nothing(double[] label, int at) {
    label[at] = Double.NEGATIVE_INFINITY; // so that the last stage is the first pivot
    label[at + 1] = 0;
    label[at + 2] = 0;
    label[at + 3] = Double.NEGATIVE_INFINITY;
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
    double steady = (microBatches - 1) * both;
    double later = pool[from + 3];
    if (steady > pool[from]) {
      double warm = forward + steady;
      double end = corrected ? Math.max(tail + backward, later) : Math.max(tail, later) - backward;
      pool[to] = steady;
      pool[to + 1] = warm + backward;
      pool[to + 2] = warm + end;
    } else {
      pool[to] = pool[from] + both;
      double through = pool[from + 1] + both;
      pool[to + 2] = Math.max(forward + pool[from + 2], through + tail);
      pool[to + 1] = through;
    }
    pool[to + 3] = corrected ? Math.max(tail, later - backward) : Math.max(tail, later) - backward;
  }

  @Override
  public void transfer(
      double[] pool, int from, double there, double back, int microBatches, int to) {
    stage(pool, from, there, back, 0, microBatches, 1, to);
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
    return false; // a pivot that moves hides some of what came before
  }

  @Override
  public double bound(double[] pool, int at, double slowest, double delay, int microBatches) {
    // H may shrink when the pivot moves; V never does, and is at least M times any stage.
    return Math.max(pool[at + 1], microBatches * slowest);
  }
}
