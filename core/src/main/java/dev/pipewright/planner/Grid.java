package dev.pipewright.planner;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.ZeroStage;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Equal pipelines on the devices of a cluster: each rank has as many replicas, which divide layers
 * alike. The devices of a tensor-parallel group follow each other.
 *
 * @param ranks of each pipeline
 * @param replicas of each rank: tensor-parallel groups, or single devices
 * @param neighbours whether the devices of a rank follow each other; otherwise those of a pipeline
 *     do
 * @param chunks stages of each rank and direction
 */
record Grid(
    int ranks,
    int replicas,
    Parallelism parallelism,
    boolean neighbours,
    int chunks,
    ZeroStage sharding) {
  /** The same with another number of stages on each rank. */
  Grid of(int others) {
    return new Grid(ranks, replicas, parallelism, neighbours, others, sharding);
  }

  /** The same with other states sharded. */
  Grid sharding(ZeroStage others) {
    return new Grid(ranks, replicas, parallelism, neighbours, chunks, others);
  }

  /** The devices of a rank, group by group. */
  List<Integer> devices(int rank) {
    int parts = parallelism.parts();
    return IntStream.range(0, replicas)
        .map(replica -> neighbours ? rank * replicas + replica : replica * ranks + rank)
        .flatMap(group -> IntStream.range(group * parts, (group + 1) * parts))
        .boxed()
        .toList();
  }

  /** Whether gradients are summed during the last backward pass; in a pipeline after it. */
  boolean overlaps() {
    return ranks == 1 && sums();
  }

  /** Whether several devices have the same weights, so that states can be sharded among them. */
  boolean sums() {
    return replicas > 1 || (parallelism.several() && parallelism.kind().dividesTokens());
  }

  /** Stages of a pipeline in one direction. */
  int stages() {
    return Math.multiplyExact(ranks, chunks);
  }
}
