package dev.pipewright.bench.planners;

/**
 * PipeDream's plan beside ours, both run by the simulator.
 *
 * @param network with its global batch
 * @param gib memory of each device
 */
record Match(String network, String cluster, int gib, Entry theirs, Entry ours) {
  /** How many times longer theirs takes; NaN where one does not fit. */
  double ratio() {
    return theirs.seconds() / ours.seconds();
  }

  String label() {
    return network + " on " + PlannersSideBySide.letter(cluster);
  }
}
