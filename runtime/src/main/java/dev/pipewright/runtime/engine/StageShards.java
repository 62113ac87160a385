package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The states of a stage that several workers hold and share out, segment by segment: each sums its
 * part of the gradients, changes its part of the parameters, and all get the whole parameters when
 * they need them.
 */
final class StageShards implements GatheredParameters, AutoCloseable {
  private final ZeroStage sharding;
  private final List<List<Shard>> segments;
  private Optional<Pending> sum = Optional.empty(); // under way

  /**
   * @param segments none for those without parameters that are shared out
   */
  private StageShards(ZeroStage sharding, List<List<Shard>> segments) {
    this.sharding = sharding;
    this.segments = segments.stream().map(List::copyOf).toList();
  }

  /**
   * Those of a worker.
   *
   * @param byReplicas parameters of each segment whose gradients the replicas add up
   * @param byAll those to whose gradients the parts of a split stage add, too
   */
  static StageShards of(
      Assignment assignment,
      int depth,
      Transport transport,
      Holders holders,
      List<List<Parameter>> byReplicas,
      List<List<Parameter>> byAll) {
    int worker = transport.worker();
    List<Integer> same = assignment.holders(depth, worker);
    List<Integer> all = assignment.holders(depth);
    Optional<Group> everybody =
        holders.everybody().map(none -> transport.group("shards-" + depth, all));
    ZeroStage sharding = assignment.sharding();
    List<List<Shard>> segments = new ArrayList<>();
    for (int segment = 0; segment < byAll.size(); segment++) {
      List<Shard> own = new ArrayList<>();
      List<Parameter> ofReplicas = byReplicas.get(segment);
      List<Parameter> ofAll = byAll.get(segment);
      String name = depth + "/" + segment;
      if (holders.replicas().isPresent() && !ofReplicas.isEmpty()) {
        Group group = holders.replicas().get();
        own.add(new Shard(name, sharding, group, same.indexOf(worker), ofReplicas));
      }
      if (everybody.isPresent() && !ofAll.isEmpty()) {
        own.add(new Shard(name + "/all", sharding, everybody.get(), all.indexOf(worker), ofAll));
      }
      segments.add(own);
    }
    return new StageShards(sharding, segments);
  }

  /** Of all segments. */
  List<Shard> all() {
    return segments.stream().flatMap(List::stream).toList();
  }

  /** What this worker brings up to date. */
  List<Parameter> own() {
    return all().stream().map(Shard::own).toList();
  }

  /** Whether gradients are added up behind each backward pass, not behind the last. */
  boolean eachPass() {
    return sharding.atLeast(ZeroStage.GRADIENTS);
  }

  /**
   * Begins to add up the gradients of a segment, when the sum before it is done: so that there are
   * no more whole gradients than those of two segments.
   */
  void addUp(int segment) {
    for (Shard shard : segments.get(segment)) {
      finish();
      sum = Optional.of(shard.addUp());
    }
  }

  /** Waits for the last sum. */
  void finish() {
    sum.ifPresent(Pending::await);
    sum = Optional.empty();
  }

  /** Hands the parts on that have changed, and forgets their gradients. */
  void spread() {
    List<Shard> all = all();
    all.forEach(Shard::spread);
    all.forEach(shard -> {
      shard.await();
      shard.own().value().clearGradient();
    });
  }

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

  long bytes() {
    return all().stream().mapToLong(Shard::bytes).sum();
  }

  @Override
  public void close() {
    all().forEach(Shard::close);
  }
}
