package dev.pipewright.sim.memory;

import java.util.Arrays;

/**
 * A forward pass takes the newest version, and its backward pass needs the same, so an update in
 * between leaves the old version where it is and writes another.
 *
 * <p>Paper: D. Narayanan and others, <i>PipeDream: Generalized Pipeline Parallelism for DNN
 * Training</i>, SOSP 2019, doi:10.1145/3341301.3359646, §3.3, weight stashing.
 */
final class NewestVersions implements Versions {
  private int newest;
  private int[] users = new int[4]; // of each version: micro-batches in flight

  @Override
  public int take(int microBatch) {
    users[newest]++;
    return newest;
  }

  @Override
  public int update() {
    int stashed = users[newest] > 0 ? 1 : 0; // otherwise it is overwritten
    newest++;
    if (newest == users.length) {
      users = Arrays.copyOf(users, 2 * newest);
    }
    return stashed;
  }

  @Override
  public int leave(int version) {
    users[version]--;
    return users[version] == 0 && version < newest ? 1 : 0;
  }
}
