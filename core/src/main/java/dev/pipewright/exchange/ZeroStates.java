package dev.pipewright.exchange;

import dev.pipewright.model.Chain;
import dev.pipewright.model.TiedTable;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.Op.Pass;
import java.util.ArrayList;
import java.util.List;

/**
 * The part of a stage's states that a worker holds under ZeRO ({@link ZeroStage}), segment by
 * segment, and the collectives of each pass. The runtime follows it, the oracle prices it, and
 * tests count it at the transport.
 */
public final class ZeroStates {
  private final ZeroStage sharding;
  private final boolean overlapped;
  private final List<Segment> segments;
  private final List<List<Shard>> shards = new ArrayList<>(); // by segment
  private final List<Long> kept = new ArrayList<>(); // numbers that no other worker has, likewise

  /**
   * Parameters that lie one behind the other, of which each member of a group has an equal part:
   * there may be a few zeros behind the last.
   *
   * @param members of the group
   * @param heldBy who they are
   */
  public record Shard(long numbers, int members, HeldBy heldBy) {
    /** Numbers of each member's part. */
    public long part() {
      return Math.ceilDiv(numbers, members);
    }

    /** Numbers of all parts. */
    public long whole() {
      return part() * members;
    }
  }

  /** What happens in a pass, in the order in which a worker does it. */
  public interface Steps {
    /** The parameters of a segment must be there. */
    void need(int segment);

    /** The parameters of a segment are asked for, if they do not come yet. */
    void ahead(int segment);

    /** A segment computes; what was got for it is forgotten behind it. */
    void compute(int segment, Pass pass);

    /** Its gradients begin to be added up and shared out, when the sum before is done. */
    void addUp(int segment);
  }

  private ZeroStates(ZeroStage sharding, boolean overlapped, List<Segment> segments) {
    this.sharding = sharding;
    this.overlapped = overlapped;
    this.segments = List.copyOf(segments);
  }

  /**
   * Those of a worker that holds a stage of a chain.
   *
   * @param bucketBytes of gradients that are summed at once
   */
  public static ZeroStates of(
      Assignment assignment, int depth, int worker, Chain chain, long bucketBytes) {
    Parallelism split = assignment.stages().get(depth).split();
    ShardedParameters parameters = new ShardedParameters(chain.graph(), split);
    return of(assignment, depth, worker, chain, parameters, bucketBytes);
  }

  /**
   * The same where it is known what each worker holds.
   *
   * @param parameters of layers that are divided as the stage's are
   */
  public static ZeroStates of(
      Assignment assignment,
      int depth,
      int worker,
      Chain chain,
      ShardedParameters parameters,
      long bucketBytes) {
    List<Segment> segments = Segment.of(assignment, depth, chain, bucketBytes);
    int all = assignment.holderCount(depth);
    boolean overlapped = all > 1 && assignment.overlapped();
    ZeroStates states = new ZeroStates(assignment.sharding(depth), overlapped, segments);
    Parallelism split = assignment.stages().get(depth).split();
    int part = assignment.partOf(worker);
    List<TiedTable> tables = chain.graph().tiedTables();
    for (Segment segment : segments) {
      long ofPart = 0;
      long ofExperts = 0;
      long ofAll = 0;
      for (int layer : chain.layers(segment.range().first() - 1, segment.range().last())) {
        var held = parameters.of(layer, part);
        boolean summed = split.several() && held.summed();
        long tied = tied(tables, layer); // whole on each worker, or divided
        boolean ofEach = summed && held.whole() >= tied;
        ofPart += held.pieces() + (summed ? 0 : held.whole()) - (ofEach ? 0 : tied);
        ofExperts += held.experts();
        ofAll += (summed ? held.whole() : 0) - (ofEach ? tied : 0);
      }
      states.add(
          List.of(
              new Shard(ofPart, all / split.pieces(), HeldBy.SAME_PART),
              new Shard(ofExperts, all / split.parts(), HeldBy.SAME_EXPERTS),
              new Shard(ofAll, all, HeldBy.STAGE)));
    }
    return states;
  }

  /** Numbers of an embedding's table that are summed apart from the stage's others. */
  private static long tied(List<TiedTable> tables, int layer) {
    long numbers = 0;
    for (TiedTable table : tables) { // for each layer of each plan: no stream
      numbers += table.layer() == layer ? table.numbers() : 0;
    }
    return numbers;
  }

  private void add(List<Shard> all) {
    List<Shard> own = new ArrayList<>();
    long alone = 0;
    for (Shard each : all) { // for each segment of each plan: no stream
      if (each.members() > 1 && each.numbers() > 0) {
        own.add(each);
      } else {
        alone += each.numbers();
      }
    }
    shards.add(own);
    kept.add(alone);
  }

  public ZeroStage sharding() {
    return sharding;
  }

  public List<Segment> segments() {
    return segments;
  }

  /** What is shared out of a segment. */
  public List<Shard> shards(int segment) {
    return shards.get(segment);
  }

  /** The same of all. */
  public List<Shard> shards() {
    return shards.stream().flatMap(List::stream).toList();
  }

  /** Numbers of a segment that this worker alone holds. */
  public long kept(int segment) {
    return kept.get(segment);
  }

  /** Whether gradients are added up behind each backward pass, not behind the last. */
  public boolean eachPass() {
    return sharding.atLeast(ZeroStage.GRADIENTS);
  }

  /** Whether they are as soon as a pass leaves a segment, not at its end. */
  public boolean bySegment() {
    return overlapped || eachPass();
  }

  /** Whether parameters are got for each pass. */
  public boolean gathered() {
    return sharding == ZeroStage.PARAMETERS;
  }

  /**
   * Whether a pass has any of the collectives.
   *
   * @param last whether no pass of the step behind it gives gradients
   */
  public boolean communicates(Pass pass, boolean last) {
    return gathered() || adds(pass, last);
  }

  private boolean adds(Pass pass, boolean last) {
    return pass.releases() && (eachPass() || last);
  }

  /**
   * Goes through a pass.
   *
   * @param recomputing whether it begins with another forward pass through the whole stage
   * @param last whether no pass of the step behind it gives gradients
   */
  public void walk(Pass pass, boolean recomputing, boolean last, Steps steps) {
    if (recomputing || pass == Pass.FORWARD || pass == Pass.RECOMPUTE) {
      for (int segment = 0; segment < segments.size(); segment++) {
        at(segment, segment + 1, Pass.FORWARD, steps);
      }
    }
    if (pass == Pass.FORWARD || pass == Pass.RECOMPUTE) {
      return;
    }
    boolean adds = adds(pass, last);
    for (int segment = segments.size() - 1; segment >= 0; segment--) {
      at(segment, segment - 1, pass, steps);
      if (adds && bySegment()) {
        steps.addUp(segment);
      }
    }
    for (int segment = segments.size() - 1; adds && !bySegment() && segment >= 0; segment--) {
      steps.addUp(segment);
    }
  }

  private void at(int segment, int next, Pass pass, Steps steps) {
    if (gathered()) {
      steps.need(segment);
      if (0 <= next && next < segments.size()) {
        steps.ahead(next);
      }
    }
    steps.compute(segment, pass);
  }
}
