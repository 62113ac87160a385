package dev.pipewright.planner.placement;

/**
 * How much, at most, is already done at an ideal within another that so many accelerators can fill:
 * the way down from an ideal ends where all that is left of the way does too little.
 */
final class Reach {
  private final IdealLattice lattice;
  private final int counts; // of accelerators, with none
  private final double[] work;
  private final double[] processorTime;
  private final double[] most; // [accelerators][ideal][work, processor time]

  Reach(IdealLattice lattice, int accelerators, double[] work, double[] processorTime) {
    this.lattice = lattice;
    this.work = work;
    this.processorTime = processorTime;
    counts = accelerators + 1;
    most = new double[lattice.count * counts * 2];
  }

  /**
   * Takes note of an ideal after all within it.
   *
   * @param fewest accelerators that fill it, with any number of processors
   */
  void settle(int ideal, int fewest) {
    for (int with = 0; with < counts; with++) {
      boolean filled = fewest <= with;
      double done = filled ? work[ideal] : Double.NEGATIVE_INFINITY;
      double doneByHost = filled ? processorTime[ideal] : Double.NEGATIVE_INFINITY;
      for (int link = lattice.linkStart[ideal]; link < lattice.linkStart[ideal + 1]; link++) {
        int within = 2 * (with * lattice.count + lattice.linkTo[link]);
        done = Math.max(done, most[within]);
        doneByHost = Math.max(doneByHost, most[within + 1]);
      }
      most[2 * (with * lattice.count + ideal)] = done;
      most[2 * (with * lattice.count + ideal) + 1] = doneByHost;
    }
  }

  /** Work that is done at the most, with so many accelerators; none where it is impossible. */
  double work(int ideal, int accelerators) {
    return accelerators < 0
        ? Double.NEGATIVE_INFINITY
        : most[2 * (accelerators * lattice.count + ideal)];
  }

  double processorTime(int ideal, int accelerators) {
    return most[2 * (accelerators * lattice.count + ideal) + 1];
  }
}
