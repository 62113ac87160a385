package dev.pipewright.sim.memory;

import java.util.Arrays;

/**
 * The versions of one stage's parameters on a rank. A forward pass takes the newest, and its
 * backward pass needs the same, so an update in between leaves the old version where it is and
 * writes another.
 *
 * <p>Paper: D. Narayanan and others, <i>PipeDream: Generalized Pipeline Parallelism for DNN
 * Training</i>, SOSP 2019, doi:10.1145/3341301.3359646, §3.3, weight stashing.
 */
final class Versions {
  private int newest;
  private int[] users = new int[4]; // of each version: micro-batches in flight

  /** A forward pass starts; returns the version that it takes. */
  int take() {
    users[newest]++;
    return newest;
  }

  /** An update starts; returns how many more versions are stashed. */
  int update() {
    int stashed = users[newest] > 0 ? 1 : 0; // otherwise it is overwritten
    newest++;
    if (newest == users.length) {
      users = Arrays.copyOf(users, 2 * newest);
    }
    return stashed;
  }

  /** The last pass that needs a version for its micro-batch ends; returns how many are dropped. */
  int leave(int version) {
    users[version]--;
    return users[version] == 0 && version < newest ? 1 : 0;
  }
}
