package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
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
 * @param arrangement which devices each rank has
 * @param chunks stages of each rank and direction
 */
record Grid(
    int ranks,
    int replicas,
    Parallelism parallelism,
    Arrangement arrangement,
    int chunks,
    ZeroStage sharding) {
  /** One whose devices hold all states of their stages, rank by rank. */
  static Grid of(int ranks, int replicas, Parallelism parallelism, int chunks) {
    return new Grid(ranks, replicas, parallelism, Arrangement.BY_RANK, chunks, ZeroStage.NOTHING);
  }

  /** The same with another number of stages on each rank. */
  Grid of(int others) {
    return new Grid(ranks, replicas, parallelism, arrangement, others, sharding);
  }

  /** The same with other numbers of ranks and replicas. */
  Grid resized(int otherRanks, int otherReplicas) {
    return new Grid(otherRanks, otherReplicas, parallelism, arrangement, chunks, sharding);
  }

  /** The same whose groups divide layers in another way. */
  Grid with(Parallelism other) {
    return new Grid(ranks, replicas, other, arrangement, chunks, sharding);
  }

  /** The same with other devices for each rank. */
  Grid with(Arrangement other) {
    return new Grid(ranks, replicas, parallelism, other, chunks, sharding);
  }

  /** The same with other states sharded. */
  Grid sharding(ZeroStage others) {
    return new Grid(ranks, replicas, parallelism, arrangement, chunks, others);
  }

  /** The devices of a rank, group by group. */
  List<Integer> devices(int rank) {
    int parts = parallelism.parts();
    return IntStream.range(0, replicas)
        .map(replica -> arrangement.group(rank, ranks, replica, replicas))
        .flatMap(group -> IntStream.range(group * parts, (group + 1) * parts))
        .boxed()
        .toList();
  }

  /** How many times slower a rank computes than the device of the profile: its slowest device. */
  double pace(int rank, StageCosts costs) {
    return devices(rank).stream().mapToDouble(costs::slowdown).max().orElseThrow();
  }

  /** The same with {@linkplain Parallelism#ofExperts experts} divided as suits a micro-batch. */
  Grid suited(int samples) {
    int ofGroup = samples % replicas == 0 ? samples / replicas : 1;
    boolean copies = parallelism.nested() && ofGroup % parallelism.copies() == 0;
    return parallelism.expertParts() > 1 && !copies
        ? with(Parallelism.ofExperts(parallelism.parts(), ofGroup))
        : this;
  }

  /** Whether gradients are summed during the last backward pass; in a pipeline after it. */
  boolean overlaps() {
    return ranks == 1 && sums();
  }

  /** Whether several devices have the same weights, so that states can be sharded among them. */
  boolean sums() {
    return replicas > 1 || parallelism.sharesWeights();
  }

  /** Stages of a pipeline in one direction. */
  int stages() {
    return Math.multiplyExact(ranks, chunks);
  }
}
