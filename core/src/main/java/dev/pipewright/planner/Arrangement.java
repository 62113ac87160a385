package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import java.util.List;

/** Which groups of devices a rank of an equal pipeline has. */
enum Arrangement {
  /** Those of a rank follow each other. */
  BY_RANK {
    @Override
    int group(int rank, int ranks, int replica, int replicas) {
      return rank * replicas + replica;
    }
  },
  /** Those of a pipeline follow each other. */
  BY_PIPELINE {
    @Override
    int group(int rank, int ranks, int replica, int replicas) {
      return replica * ranks + rank;
    }
  },
  /** As by rank, but the last devices come first. */
  BY_RANK_FROM_THE_LAST {
    @Override
    int group(int rank, int ranks, int replica, int replicas) {
      return BY_RANK.group(ranks - 1 - rank, ranks, replica, replicas);
    }
  };

  /** Of all groups in the order of the cluster's devices the one of a rank's replica. */
  abstract int group(int rank, int ranks, int replica, int replicas);

  /** Those that may differ: devices by their links, or by kind. */
  static List<Arrangement> of(Cluster cluster, int ranks, int replicas) {
    if (ranks == 1) {
      return List.of(BY_RANK);
    }
    if (!cluster.homogeneous()) {
      return replicas == 1 ? List.of(BY_RANK, BY_RANK_FROM_THE_LAST) : List.of(values());
    }
    return replicas > 1 && cluster.levels().size() > 1
        ? List.of(BY_RANK, BY_PIPELINE)
        : List.of(BY_RANK);
  }
}
