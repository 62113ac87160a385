package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Share;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A stage of a chain on a worker: its layers, and the sums of its gradients over all workers that
 * hold the same, or have seen other samples or other places of the same layers. Bidirectional
 * schedules run it for both chains.
 */
final class HeldStage implements OwnStage, AutoCloseable {
  private final Stage stage;
  private final List<GradientSums> sums;
  private final Optional<Group> replicas; // who hold the same
  private final List<Parameter> parameters;
  private final boolean overlapped;
  private final boolean inTwoParts;
  private final int passes; // that give gradients, in a step
  private int left; // of these
  private boolean owned; // whether gradients have memory of their own
  private int begun; // buckets, from the last on

  private HeldStage(
      Stage stage,
      Optional<Group> replicas,
      List<GradientSums> sums,
      List<Parameter> parameters,
      boolean overlapped,
      boolean inTwoParts,
      int passes) {
    this.stage = stage;
    this.replicas = replicas;
    this.sums = sums;
    this.parameters = parameters;
    this.overlapped = overlapped;
    this.inTwoParts = inTwoParts;
    this.passes = passes;
  }

  static HeldStage of(
      Assignment assignment, int depth, Network network, Transport transport, long bucketBytes) {
    List<Integer> holders = assignment.holders(depth);
    boolean overlapped = holders.size() > 1 && assignment.overlapped();
    long bucket = overlapped ? bucketBytes : Long.MAX_VALUE;
    Stage stage = Stage.of(network, assignment.stages().get(depth), bucket);
    List<List<Parameter>> segments =
        stage.segments().stream().map(segment -> segment.part().parameters()).toList();
    List<List<Parameter>> untied = untied(segments, network);
    int worker = transport.worker();
    Holders groups = Holders.of(assignment, depth, transport);
    List<GradientSums> sums = new ArrayList<>();
    groups.replicas().ifPresent(g -> sums.add(new GradientSums(g::sum, summed(untied, false))));
    groups.everybody().ifPresent(all -> sums.add(new GradientSums(all, summed(untied, true))));
    Schedule schedule = assignment.schedule();
    Placement placement = schedule.placement();
    int passes = 0;
    boolean inTwoParts = false;
    for (long op : schedule.packed(assignment.rankOf(worker))) {
      if (Schedule.stage(op) % placement.depth() == depth) {
        passes += Schedule.pass(op).releases() ? 1 : 0;
        inTwoParts |= Schedule.pass(op) == Pass.BACKWARD_INPUT;
      }
    }
    List<Parameter> parameters = segments.stream().flatMap(List::stream).toList();
    return new HeldStage(
        stage, groups.replicas(), sums, parameters, overlapped, inTwoParts, passes);
  }

  /** Those whose gradients the members of a team add up, or all others. */
  private static List<List<Parameter>> summed(List<List<Parameter>> buckets, boolean byTeam) {
    return buckets.stream()
        .map(each ->
            each.stream().filter(p -> (p.share() instanceof Share.Summed) == byTeam).toList())
        .toList();
  }

  /** Those whose gradients are summed with nobody else's: see {@link TiedSums}. */
  private static List<List<Parameter>> untied(List<List<Parameter>> segments, Network network) {
    Set<String> tied = TiedSums.names(network);
    return segments.stream()
        .map(each -> each.stream().filter(p -> !tied.contains(p.name())).toList())
        .toList();
  }

  @Override
  public Stage stage() {
    return stage;
  }

  /** What it learns. */
  List<Parameter> parameters() {
    return parameters;
  }

  /** Running averages, which each of the workers that hold it takes over its own samples. */
  List<Parameter> averages() {
    return stage.whole().averages();
  }

  /** What the sums of gradients take up between steps, too. */
  long sumBytes() {
    return sums.stream().mapToLong(GradientSums::bytes).sum();
  }

  /** Has all workers that hold it go on with the averages of the first. */
  void shareAverages() {
    replicas.ifPresent(
        group -> averages().forEach(average -> group.broadcast(average.value(), 0).await()));
  }

  @Override
  public boolean inTwoParts() {
    return inTwoParts;
  }

  void begin() {
    left = passes;
    owned = false;
    begun = sums.isEmpty() ? 0 : stage.segments().size();
  }

  /** Where the pass is the last one, the segment's gradients are complete. */
  @Override
  public void left(int segment) {
    if (overlapped && left == 1) {
      beginDownTo(segment);
    }
  }

  /**
   * A pass has ended.
   *
   * @param computed whether this worker had samples in it
   */
  void passed(boolean computed) {
    if (computed && !owned && left > 1) { // the others add to what the first one has left
      ownGradients();
      owned = true;
    }
    left--;
    if (left == 0) {
      beginDownTo(0);
    }
  }

  private void ownGradients() {
    try (Scope scope = new Scope()) {
      parameters.forEach(parameter -> parameter.value().ownGradient());
    }
  }

  private void beginDownTo(int segment) {
    while (begun > segment) {
      begun--;
      int bucket = begun;
      sums.forEach(each -> each.begin(bucket));
    }
  }

  void finishSums() {
    sums.forEach(GradientSums::finish);
  }

  void clearGradients() {
    parameters.forEach(parameter -> parameter.value().clearGradient());
  }

  @Override
  public void close() {
    sums.forEach(GradientSums::close);
  }
}
