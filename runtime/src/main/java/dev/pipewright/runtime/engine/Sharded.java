package dev.pipewright.runtime.engine;

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

  /** The shards of each segment: of what the replicas sum, and of what all workers sum. */
  private static List<List<Shard>> segments(WorkerSetup setup, int depth, Stage stage) {
    Assignment assignment = setup.assignment();
    ZeroStage sharding = assignment.sharding();
    List<Integer> same = assignment.holders(depth, setup.worker());
    List<Integer> all = assignment.holders(depth);
    Holders holders = Holders.of(assignment, depth, setup.transport());
    Optional<Group> everybody =
        holders.everybody().map(none -> setup.transport().group("shards-" + depth, all));
    List<List<Parameter>> byReplicas = summed(setup, stage, false);
    List<List<Parameter>> byAll = summed(setup, stage, true);
    List<List<Shard>> segments = new ArrayList<>();
    for (int segment = 0; segment < byAll.size(); segment++) {
      List<Shard> own = new ArrayList<>();
      List<Parameter> ofReplicas = byReplicas.get(segment);
      List<Parameter> ofAll = byAll.get(segment);
      String name = depth + "/" + segment;
      if (holders.replicas().isPresent() && !ofReplicas.isEmpty()) {
        Group group = holders.replicas().get();
        own.add(new Shard(name, sharding, group, same.indexOf(setup.worker()), ofReplicas));
      }
      if (everybody.isPresent() && !ofAll.isEmpty()) {
        int place = all.indexOf(setup.worker());
        own.add(new Shard(name + "/all", sharding, everybody.get(), place, ofAll));
      }
      segments.add(own);
    }
    return segments;
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
