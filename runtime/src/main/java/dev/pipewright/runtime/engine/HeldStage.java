package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.ZeroStage;
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
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A stage of a chain on a worker: its layers, and the sums of its gradients over all workers that
 * hold the same, or have seen other samples or other places of the same layers. Bidirectional
 * schedules run it for both chains.
 */
final class HeldStage implements OwnStage, AutoCloseable {
  private final Stage stage;
  private final List<GradientSums> sums;
  private final Optional<StageShards> shards;
  private final Optional<Group> replicas; // who hold the same
  private final List<Parameter> parameters;
  private final List<List<Parameter>> buckets; // by segment, those that are not tied
  private final boolean overlapped; // with the last pass, whatever is done with buckets
  private final boolean inTwoParts;
  private final int passes; // that give gradients, in a step
  private final Consumer<List<Parameter>> alone; // gets buckets that nobody else adds to
  private int left; // of these
  private boolean owned; // whether gradients have memory of their own
  private int begun; // buckets, from the last on

  private HeldStage(
      Stage stage,
      Optional<Group> replicas,
      List<GradientSums> sums,
      Optional<StageShards> shards,
      List<Parameter> parameters,
      List<List<Parameter>> buckets,
      boolean overlapped,
      boolean inTwoParts,
      int passes,
      Consumer<List<Parameter>> alone) {
    this.stage = stage;
    this.replicas = replicas;
    this.sums = sums;
    this.shards = shards;
    this.parameters = parameters;
    this.buckets = buckets;
    this.overlapped = overlapped;
    this.inTwoParts = inTwoParts;
    this.passes = passes;
    this.alone = alone;
  }

  /**
   * @param alone gets parameters whose gradients the last pass has completed, one bucket by
   *     another, where one worker trains alone
   */
  static HeldStage of(
      Assignment assignment,
      int depth,
      Network network,
      Transport transport,
      long bucketBytes,
      Consumer<List<Parameter>> alone) {
    List<Integer> holders = assignment.holders(depth);
    boolean ahead = assignment.updatesAhead();
    boolean overlapped = ahead || (holders.size() > 1 && assignment.overlapped());
    ZeroStage sharding = assignment.sharding(depth);
    Stage stage = Stage.of(assignment, depth, network, bucketBytes);
    List<List<Parameter>> segments =
        stage.segments().stream().map(segment -> segment.part().parameters()).toList();
    List<List<Parameter>> untied = untied(segments, network);
    int worker = transport.worker();
    Holders groups = Holders.of(assignment, depth, transport);
    Optional<StageShards> shards =
        sharding == ZeroStage.NOTHING
            ? Optional.empty()
            : Optional.of(
                StageShards.of(
                    assignment,
                    depth,
                    transport,
                    groups,
                    summed(untied, false),
                    summed(untied, true)));
    List<GradientSums> sums = new ArrayList<>();
    if (shards.isEmpty()) {
      groups.replicas().ifPresent(g -> sums.add(new GradientSums(g::sum, summed(untied, false))));
      groups.everybody().ifPresent(all -> sums.add(new GradientSums(all, summed(untied, true))));
    }
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
        stage,
        groups.replicas(),
        sums,
        shards,
        parameters,
        untied,
        overlapped,
        inTwoParts,
        passes,
        ahead ? alone : bucket -> {});
  }

  /** Those whose gradients the members of a team add up, or all others. */
  private static List<List<Parameter>> summed(
      List<List<Parameter>> buckets, boolean byTensorGroup) {
    return buckets.stream()
        .map(each ->
            each.stream()
                .filter(p -> (p.share() instanceof Share.Summed) == byTensorGroup)
                .toList())
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

  /** What this worker brings up to date: all of them, or its part of what is shared out. */
  List<Parameter> own() {
    return shards
        .map(some -> {
          List<Parameter> own = new ArrayList<>(some.own());
          own.addAll(kept());
          return List.copyOf(own);
        })
        .orElse(parameters);
  }

  /** Those that are not shared out. */
  private List<Parameter> kept() {
    Set<String> out =
        shards().stream()
            .flatMap(shard -> shard.parameters().stream())
            .map(Parameter::name)
            .collect(Collectors.toSet());
    return parameters.stream().filter(p -> !out.contains(p.name())).toList();
  }

  /** What is shared out. */
  List<Shard> shards() {
    return shards.map(StageShards::all).orElse(List.of());
  }

  @Override
  public GatheredParameters gatheredParameters() {
    return shards.<GatheredParameters>map(some -> some).orElse(GatheredParameters.ALWAYS);
  }

  /** Running averages, which each of the workers that hold it takes over its own samples. */
  List<Parameter> averages() {
    return stage.whole().averages();
  }

  /** What the sums of gradients take up between steps, too, and what is shared out. */
  long sumBytes() {
    return sums.stream().mapToLong(GradientSums::bytes).sum()
        + shards.map(StageShards::bytes).orElse(0L);
  }

  /** Adds what it holds. */
  void count(LiveBytes live) {
    for (Parameter parameter : parameters) {
      live.add(LiveBytes.Kind.PARAMETERS, parameter.value());
    }
    averages().forEach(average -> live.add(LiveBytes.Kind.PARAMETERS, average.value()));
    shards().forEach(shard -> shard.count(live));
    try (Scope scope = new Scope()) {
      for (Parameter parameter : parameters) {
        parameter.value().gradient().ifPresent(g -> live.add(LiveBytes.Kind.GRADIENTS, g));
      }
    }
    sums.forEach(each -> each.count(live));
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
    begun = buckets.size();
  }

  /** Where the pass is the last one, the segment's gradients are complete. */
  @Override
  public void left(int segment) {
    if (eachPass()) {
      shards.orElseThrow().addUp(segment);
    } else if (overlapped && left == 1) {
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
    if (eachPass()) {
      attend(computed);
    } else if (left == 0) {
      beginDownTo(0);
    }
  }

  private boolean eachPass() {
    return shards.map(StageShards::eachPass).orElse(false);
  }

  /** Who had no samples adds nothing, together with the others. */
  private void attend(boolean computed) {
    for (int segment = stage.segments().size() - 1; !computed && segment >= 0; segment--) {
      left(segment);
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
      alone.accept(buckets.get(bucket));
      shards.ifPresent(some -> some.addUp(bucket));
    }
  }

  void finishSums() {
    sums.forEach(GradientSums::finish);
    shards.ifPresent(StageShards::finish);
  }

  /** Hands on what has been learnt, where each worker has learnt a part of it. */
  void spread() {
    shards.ifPresent(StageShards::spread);
  }

  void clearGradients() {
    parameters.forEach(parameter -> parameter.value().clearGradient());
  }

  @Override
  public void close() {
    sums.forEach(GradientSums::close);
    shards.ifPresent(StageShards::close);
  }
}
