package dev.pipewright.runtime.engine;

import dev.pipewright.exchange.HeldBy;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * ZeRO: the workers that hold a stage shard its states segment by segment. Each sums its part of
 * the gradients and updates its part of the parameters; all get the full parameters when they need
 * them.
 */
final class Sharded extends Flushed {
  private final ZeroStage sharding;
  private final List<List<Shard>> segments;
  private Optional<Pending> sum = Optional.empty(); // in progress

  private Sharded(
      WorkerSetup setup, int depth, Stage stage, TiedSums tied, List<List<Shard>> segments) {
    super(setup, depth, stage, tied, segments.stream().flatMap(List::stream).toList());
    this.sharding = setup.assignment().sharding();
    this.segments = segments;
  }

  static Sharded of(WorkerSetup setup, int depth, TiedSums tied) {
    Stage stage = Stage.of(setup, depth);
    return new Sharded(setup, depth, stage, tied, segments(setup, depth, stage));
  }

  /** The shards of each segment, group by group of those who share something of it out. */
  private static List<List<Shard>> segments(WorkerSetup setup, int depth, Stage stage) {
    Assignment assignment = setup.assignment();
    int worker = setup.worker();
    List<Integer> all = assignment.holders(depth);
    Holders holders = Holders.of(assignment, depth, setup.transport());
    Optional<Group> everybody =
        holders.everybody().map(none -> setup.transport().group("shards-" + depth, all));
    List<List<Shard>> segments = new ArrayList<>();
    stage.segments().forEach(segment -> segments.add(new ArrayList<>()));
    Sharers sharers = new Sharers(setup, depth, stage, segments);
    sharers.add(HeldBy.SAME_PART, "", holders.replicas(), assignment.holders(depth, worker));
    sharers.add(
        HeldBy.SAME_EXPERTS,
        "/experts",
        holders.experts(),
        Holders.ofSameExperts(assignment, depth, worker));
    sharers.add(HeldBy.STAGE, "/all", everybody, all);
    return segments;
  }

  /** Adds the shards of segments. */
  private record Sharers(WorkerSetup setup, int depth, Stage stage, List<List<Shard>> segments) {
    /** Those of one group, unless this worker is alone in it. */
    void add(HeldBy what, String suffix, Optional<Group> group, List<Integer> members) {
      List<List<Parameter>> parameters = summed(setup, stage, what);
      for (int segment = 0; group.isPresent() && segment < segments.size(); segment++) {
        List<Parameter> own = parameters.get(segment);
        if (!own.isEmpty()) {
          String name = depth + "/" + segment + suffix;
          int place = members.indexOf(setup.worker());
          ZeroStage sharding = setup.assignment().sharding();
          segments.get(segment).add(new Shard(name, sharding, group.get(), place, own));
        }
      }
    }
  }

  // ---- parameters

  private List<Shard> elsewhere(int segment) {
    boolean some = sharding == ZeroStage.PARAMETERS && 0 <= segment && segment < segments.size();
    return some ? segments.get(segment) : List.of();
  }

  @Override
  public void ahead(int segment) {
    elsewhere(segment).forEach(Shard::ask);
  }

  @Override
  public void need(int segment) {
    List<Shard> needed = elsewhere(segment);
    needed.forEach(Shard::ask);
    needed.forEach(Shard::await);
  }

  @Override
  public void leave(int segment) {
    elsewhere(segment).forEach(Shard::forget);
  }

  // ---- gradients

  /** Whether gradients are summed after each backward pass, not after the last one. */
  private boolean eachPass() {
    return sharding.atLeast(ZeroStage.GRADIENTS);
  }

  @Override
  public void left(int segment) {
    if (eachPass()) {
      complete(segment);
    } else {
      super.left(segment);
    }
  }

  /** A worker that had no samples adds nothing, together with the others. */
  @Override
  void passed(boolean samples) {
    if (!eachPass()) {
      super.passed(samples);
      return;
    }
    for (int segment = segments.size() - 1; !samples && segment >= 0; segment--) {
      complete(segment);
    }
  }

  /**
   * Begins to sum the gradients of a segment when the sum before it is done, so that there are no
   * more full gradients than those of two segments.
   */
  @Override
  void complete(int segment) {
    for (Shard shard : segments.get(segment)) {
      awaitSums();
      sum = Optional.of(shard.addUp());
    }
  }

  @Override
  public void awaitSums() {
    sum.ifPresent(Pending::await);
    sum = Optional.empty();
  }

  private List<Shard> all() {
    return segments.stream().flatMap(List::stream).toList();
  }

  @Override
  void spread() {
    Shard.spread(all());
  }

  @Override
  long sumBytes() {
    return all().stream().mapToLong(Shard::bytes).sum();
  }
}
