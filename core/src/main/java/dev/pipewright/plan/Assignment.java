package dev.pipewright.plan;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Who computes what: a schedule whose stages are layers of a network, whose ranks are groups of
 * workers, and whose micro-batches are slices of a batch.
 *
 * <p>Workers are numbered rank by rank. Those of a rank run the same program, each on its slice of
 * every micro-batch. Where a stage is split, as many workers as it has parts follow each other and
 * compute one slice together. A stage of a bidirectional schedule is held by two ranks.
 *
 * @param stages the layers of each stage of a chain, and what it computes again
 * @param workers of each rank
 * @param batch samples of a step
 * @param overlapped whether gradients are summed while others are still computed; on one worker,
 *     whether they are used then
 * @param asyncPipeline what makes the schedule, where that holds several steps
 * @param sharding what those who hold the same stage share out between them
 */
public record Assignment(
    Schedule schedule,
    List<StageLayers> stages,
    List<Integer> workers,
    int batch,
    boolean overlapped,
    Optional<AsyncPipeline> asyncPipeline,
    ZeroStage sharding) {

  /**
   * The layers of a stage.
   *
   * @param range positions in the network's chain
   * @param again those that are computed again for the backward pass where that is selective
   * @param split how each of them is shared out between workers
   */
  public record StageLayers(
      LayerRange range, Recompute recompute, List<LayerRange> again, Parallelism split) {
    public StageLayers {
      again = List.copyOf(again);
    }

    /** Layers that one worker computes whole. */
    public StageLayers(LayerRange range, Recompute recompute, List<LayerRange> again) {
      this(range, recompute, again, Parallelism.NONE);
    }

    /** The same layers, shared out between workers. */
    public StageLayers with(Parallelism other) {
      return new StageLayers(range, recompute, again, other);
    }

    /** As they treat one of so many micro-batches of a step. */
    public StageLayers of(int microBatch, int microBatches) {
      return new StageLayers(range, recompute.of(microBatch, microBatches), again, split);
    }

    /** Layers of which everything is kept. */
    public static StageLayers keeping(int first, int last) {
      return new StageLayers(new LayerRange(first, last), Recompute.NONE, List.of());
    }
  }

  public Assignment {
    stages = List.copyOf(stages);
    workers = List.copyOf(workers);
    Placement placement = schedule.placement();
    Check.that(
        stages.size() == placement.depth(),
        "each stage of the schedule has layers: stages=%d, layers of %d",
        placement.depth(),
        stages.size());
    Check.that(
        workers.size() == placement.ranks(),
        "each rank of the schedule has workers: ranks=%d, workers of %d",
        placement.ranks(),
        workers.size());
    int ofStep =
        asyncPipeline
            .map(AsyncPipeline::microBatches)
            .orElse(schedule.microBatches() * placement.chains());
    Check.that(
        batch >= ofStep,
        "every micro-batch has a sample: batch=%d, micro_batches=%d",
        batch,
        ofStep);
    int[] firsts = new int[placement.ranks()]; // the first stage of each rank
    Arrays.fill(firsts, -1);
    for (int stage = 0; stage < placement.stages(); stage++) {
      int rank = placement.rankOf(stage);
      Parallelism own = stages.get(stage % placement.depth()).split();
      Check.that(
          workers.get(rank) % own.parts() == 0,
          "a split stage has workers for all its parts: stage=%d, split=%s, workers=%d",
          stage,
          own,
          workers.get(rank));
      firsts[rank] = firsts[rank] < 0 ? stage : firsts[rank];
      Check.that(
          stages.get(firsts[rank] % placement.depth()).split().equals(own),
          "all stages of a rank are split alike: rank=%d, stages=%d, %d",
          rank,
          firsts[rank],
          stage);
    }
  }

  /** Why its states cannot be shared out as they are to be, in words for the user. */
  public Optional<String> shardingRefusal() {
    return sharding.refusal(this);
  }

  /** A step that ends before the next one begins. */
  public Assignment(
      Schedule schedule,
      List<StageLayers> stages,
      List<Integer> workers,
      int batch,
      boolean overlapped) {
    this(schedule, stages, workers, batch, overlapped, Optional.empty(), ZeroStage.NOTHING);
  }

  /**
   * Steps that flow, as many as a round of theirs.
   *
   * @param batch samples of each
   */
  public static Assignment of(
      AsyncPipeline asyncPipeline, List<StageLayers> stages, List<Integer> workers, int batch) {
    return new Assignment(
        asyncPipeline.schedule(asyncPipeline.round()),
        stages,
        workers,
        batch,
        false,
        Optional.of(asyncPipeline),
        ZeroStage.NOTHING);
  }

  /** The same over so many steps that flow. */
  public Assignment over(int steps) {
    Schedule made = asyncPipeline.orElseThrow().schedule(steps);
    return new Assignment(made, stages, workers, batch, overlapped, asyncPipeline, sharding);
  }

  /** The same where those who hold the same stage share out its states. */
  public Assignment sharded(ZeroStage other) {
    return new Assignment(schedule, stages, workers, batch, overlapped, asyncPipeline, other);
  }

  /** The same where gradients are summed while others are still computed. */
  public Assignment overlapping() {
    return new Assignment(schedule, stages, workers, batch, true, asyncPipeline, sharding);
  }

  /** Whether each stage's states are in one place at a time, and go from user to user. */
  public boolean inOnePlace() {
    return asyncPipeline.map(AsyncPipeline::inOnePlace).orElse(false);
  }

  /** The worker that a stage's states are written and read by. */
  public int keeper(int depth) {
    List<Integer> holders = holders(depth);
    return holders.get(inOnePlace() ? depth % holders.size() : 0);
  }

  /** What those who hold a stage share out: nothing where that is only one. */
  public ZeroStage sharding(int depth) {
    Placement placement = schedule.placement();
    int rank = placement.rankOf(depth);
    boolean several = workers.get(rank) > 1;
    for (int stage = depth; stage < placement.stages(); stage += placement.depth()) {
      several |= placement.rankOf(stage) != rank;
    }
    return several ? sharding : ZeroStage.NOTHING;
  }

  /** Steps that the schedule makes. */
  public int steps() {
    int all = schedule.microBatches() * schedule.placement().chains();
    return asyncPipeline.map(f -> all / f.microBatches()).orElse(1);
  }

  /** A micro-batch of a stage's chain as steps that flow count them, through all chains. */
  public int inFlow(int stage, int microBatch) {
    return microBatch * schedule.placement().chains() + stage / schedule.placement().depth();
  }

  /** The plan's, with a worker for each device. */
  public static Assignment of(PipelinePlan plan) {
    List<StageLayers> stages = new ArrayList<>();
    for (StagePlan stage : plan.stages()) {
      LayerRange range = new LayerRange(stage.firstLayer(), stage.lastLayer());
      stages.add(new StageLayers(range, stage.recompute(), stage.again(), stage.parallelism()));
    }
    return new Assignment(
        plan.schedule(),
        stages,
        plan.devicesByRank().stream().map(List::size).toList(),
        Math.toIntExact(plan.globalBatch()),
        plan.overlapGradients(),
        Optional.empty(),
        plan.sharding());
  }

  /**
   * The plan that this is the assignment of; empty where its schedule is no plan's, its
   * micro-batches are not equally large, its layers are split, or their states shared out.
   *
   * @param devices by worker
   */
  public Optional<PipelinePlan> asPlan(List<Integer> devices) {
    return AssignedPlan.of(this, devices);
  }

  /** Of its stages the same as {@link PipelinePlan#dividesAlike}. */
  public boolean dividesAlike() {
    Parallelism split = stages.get(0).split();
    return stages.stream().allMatch(stage -> stage.split().equals(split))
        && (split.sampleParts() == 1 || workers.stream().distinct().count() == 1);
  }

  /** Whether any backward pass of a stage of a chain is in two parts. */
  public boolean splitsBackward(int depth) {
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      for (long op : schedule.packed(rank)) {
        boolean own = Schedule.stage(op) % stages.size() == depth;
        if (own && Schedule.pass(op) == Op.Pass.BACKWARD_WEIGHT) {
          return true;
        }
      }
    }
    return false;
  }

  /** Everything on one worker, micro-batch by micro-batch. */
  public static Assignment serial(int layers, int microBatches, int batch) {
    return new Assignment(
        OneForwardOneBackward.of(1, microBatches),
        List.of(StageLayers.keeping(0, layers - 1)),
        List.of(1),
        batch,
        false);
  }

  /** How a stage of the schedule treats a micro-batch of its chain. */
  public StageLayers layers(int stage, int microBatch) {
    return stages.get(stage % schedule.placement().depth()).of(microBatch, schedule.microBatches());
  }

  /** Workers of all ranks. */
  public int size() {
    int size = 0;
    for (int each : workers) { // asked for often: no stream
      size += each;
    }
    return size;
  }

  private List<Integer> workersOf(int rank) {
    Integer[] found = new Integer[workers.get(rank)];
    int first = firstWorker(rank);
    Arrays.setAll(found, i -> first + i);
    return List.of(found);
  }

  /** The first worker of a rank. */
  public int firstWorker(int rank) {
    int first = 0;
    for (int before = 0; before < rank; before++) {
      first += workers.get(before);
    }
    return first;
  }

  /** The rank that a worker belongs to. */
  public int rankOf(int worker) {
    int rank = 0;
    for (int end = workers.get(0); end <= worker; end += workers.get(rank)) {
      rank++;
    }
    return rank;
  }

  /** The samples of a micro-batch of a stage's chain, in the batch of its step. */
  public SampleRange microBatch(int stage, int microBatch) {
    if (asyncPipeline.isPresent()) {
      int ofStep = asyncPipeline.get().microBatches();
      return new SampleRange(0, batch).part(inFlow(stage, microBatch) % ofStep, ofStep);
    }
    int chain = stage / schedule.placement().depth();
    int all = schedule.microBatches() * schedule.placement().chains();
    return new SampleRange(0, batch).part(chain * schedule.microBatches() + microBatch, all);
  }

  /** How the layers of a rank are shared out between its workers. */
  public Parallelism split(int rank) {
    Placement placement = schedule.placement();
    int stage = 0;
    while (placement.rankOf(stage) != rank) {
      stage++;
    }
    return stages.get(stage % placement.depth()).split();
  }

  /** How many slices the workers of a rank make of a micro-batch. */
  public int replicas(int rank) {
    return workers.get(rank) / split(rank).parts();
  }

  /** The part of its rank's layers that a worker computes. */
  public int partOf(int worker) {
    int rank = rankOf(worker);
    return (worker - firstWorker(rank)) % split(rank).parts();
  }

  /** The workers that compute the same samples together with one, itself among them; ascending. */
  public List<Integer> tensorGroup(int worker) {
    int first = worker - partOf(worker);
    return IntStream.range(first, first + split(rankOf(worker)).parts()).boxed().toList();
  }

  /** Those of its {@link #tensorGroup} that have the same tokens as a worker; ascending. */
  public List<Integer> copy(int worker) {
    int pieces = split(rankOf(worker)).pieces();
    int first = partOf(worker) / pieces * pieces;
    return tensorGroup(worker).subList(first, first + pieces);
  }

  /** The workers of a worker's rank that compute the same part of other samples, and itself. */
  public List<Integer> samePart(int worker) {
    int rank = rankOf(worker);
    int parts = split(rank).parts();
    int first = firstWorker(rank) + partOf(worker);
    return IntStream.range(0, replicas(rank)).mapToObj(i -> first + i * parts).toList();
  }

  /** The samples of a micro-batch that a worker of the stage's rank computes. */
  public SampleRange samples(int stage, int microBatch, int worker) {
    int rank = schedule.placement().rankOf(stage);
    int replica = (worker - firstWorker(rank)) / split(rank).parts();
    return microBatch(stage, microBatch).part(replica, replicas(rank));
  }

  /**
   * Whether the last backward pass updates what it leaves: where no other worker adds to its
   * gradients or waits for it.
   */
  public boolean updatesAhead() {
    return overlapped && size() == 1 && stages.size() == 1 && sharding == ZeroStage.NOTHING;
  }

  /** The workers that hold the parameters of a stage of a chain, ascending. */
  public List<Integer> holders(int depth) {
    Placement placement = schedule.placement();
    if (placement.chains() == 1) { // asked for often: no stream
      return workersOf(placement.rankOf(depth));
    }
    return IntStream.range(0, placement.chains())
        .map(chain -> placement.rankOf(chain * placement.depth() + depth))
        .distinct()
        .sorted()
        .boxed()
        .flatMap(rank -> workersOf(rank).stream())
        .toList();
  }

  /** How many {@link #holders} a stage of a chain has. */
  public int holderCount(int depth) {
    Placement placement = schedule.placement();
    return placement.chains() == 1 ? workers.get(placement.rankOf(depth)) : holders(depth).size();
  }

  /** Those of {@link #holders} that hold the same piece of it as one of them. */
  public List<Integer> holders(int depth, int worker) {
    int piece = pieceOf(worker);
    List<Integer> same = new ArrayList<>();
    for (int other : holders(depth)) {
      if (pieceOf(other) == piece) {
        same.add(other);
      }
    }
    return same;
  }

  /** The piece of what its rank's layers divide that a worker holds. */
  public int pieceOf(int worker) {
    return split(rankOf(worker)).piece(partOf(worker));
  }
}
