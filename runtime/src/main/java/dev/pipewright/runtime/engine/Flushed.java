package dev.pipewright.runtime.engine;

import dev.pipewright.exchange.HeldBy;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.checkpoint.StateNames;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Share;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Parameters of one version, which are updated when all passes of a step have ended. Bidirectional
 * schedules run the stage for both chains.
 */
abstract sealed class Flushed implements ParameterStore permits Resident, Sharded {
  private final WorkerSetup setup;
  private final Stage stage;
  private final TiedSums tied;
  private final List<Shard> shards;
  private final List<Parameter> whole; // what is neither in shards nor tied
  private final Updates updates;
  private final boolean overlapped; // with the last pass, whatever is done with segments
  private final boolean inTwoParts;
  private final int passes; // that give gradients, in a step
  private int left; // of these
  private boolean owned; // whether gradients have memory of their own
  private int complete; // segments, from the last on

  /**
   * @param shards the parts of parameters that this worker updates
   */
  Flushed(WorkerSetup setup, int depth, Stage stage, TiedSums tied, List<Shard> shards) {
    this.setup = setup;
    this.stage = stage;
    this.tied = tied;
    this.shards = shards;
    Set<String> elsewhere = TiedSums.names(setup.network());
    shards.forEach(shard -> shard.parameters().forEach(p -> elsewhere.add(p.name())));
    this.whole = parameters().stream().filter(p -> !elsewhere.contains(p.name())).toList();
    this.updates =
        setup.updates(Stream.concat(shards.stream().map(Shard::own), whole.stream()).toList());
    Assignment assignment = setup.assignment();
    this.overlapped =
        assignment.updatesAhead() || (assignment.holderCount(depth) > 1 && assignment.overlapped());
    List<Pass> own =
        Arrays.stream(assignment.schedule().packed(setup.rank()))
            .filter(op -> Schedule.stage(op) % assignment.stages().size() == depth)
            .mapToObj(Schedule::pass)
            .toList();
    this.passes = (int) own.stream().filter(Pass::releases).count();
    this.inTwoParts = own.contains(Pass.BACKWARD_INPUT);
  }

  /**
   * The parameters of each segment but for tied tables, which {@link TiedSums} sums.
   *
   * @param holders that sum their gradients
   */
  static List<List<Parameter>> summed(WorkerSetup setup, Stage stage, HeldBy holders) {
    Set<String> tied = TiedSums.names(setup.network());
    return stage.segments().stream()
        .map(segment ->
            segment.part().parameters().stream()
                .filter(p -> !tied.contains(p.name()))
                .filter(p -> holders(p.share()) == holders)
                .toList())
        .toList();
  }

  private static HeldBy holders(Share share) {
    return switch (share) {
      case Share.Summed all -> HeldBy.STAGE;
      case Share.Piece piece when piece.ofGroup() -> HeldBy.SAME_EXPERTS;
      case Share.Piece piece -> HeldBy.SAME_PART;
      case Share.Whole whole -> HeldBy.SAME_PART;
    };
  }

  @Override
  public final Stage stage() {
    return stage;
  }

  @Override
  public final boolean inTwoParts() {
    return inTwoParts;
  }

  final Updates updates() {
    return updates;
  }

  // ---- ops

  @Override
  public final void begin(Assignment program) {
    left = passes;
    owned = false;
    complete = stage.segments().size();
  }

  @Override
  public final void forward(int microBatch, Runnable pass) {
    pass.run();
  }

  @Override
  public final void backward(int microBatch, boolean samples, Runnable pass) {
    pass.run();
    if (samples && !owned && left > 1) { // later passes add to what the first one has left
      ownGradients();
      owned = true;
    }
    left--;
    passed(samples);
  }

  private void ownGradients() {
    try (Scope scope = new Scope()) {
      parameters().forEach(parameter -> parameter.value().ownGradient());
    }
  }

  /** After the last pass, the segment's gradients are complete. */
  @Override
  public void left(int segment) {
    if (overlapped && left == 1) {
      completeDownTo(segment);
    }
  }

  /**
   * A backward pass has ended.
   *
   * @param samples whether this worker had samples in it
   */
  void passed(boolean samples) {
    if (left == 0) {
      completeDownTo(0);
    }
  }

  private void completeDownTo(int segment) {
    while (complete > segment) {
      complete--;
      complete(complete);
    }
  }

  /** The gradients of a segment are complete: begins to sum them. */
  abstract void complete(int segment);

  @Override
  public final void flush() {
    setup.computation().update(stage, this::learn);
  }

  private void learn() {
    updates.apply(Stream.concat(shards.stream().map(Shard::own), whole.stream()).toList());
    parameters().forEach(parameter -> parameter.value().clearGradient());
    spread();
  }

  /** Sends the parts that this worker has updated. */
  abstract void spread();

  // ---- between steps

  @Override
  public final SequencedMap<String, Tensor> state() {
    Map<String, List<Tensor>> gathered = StageState.gathered(shards, updates);
    gathered.putAll(tied.state(parameters()));
    SequencedMap<String, Tensor> state = StageState.of(parameters(), updates, averages(), gathered);
    Map<String, Share> shares = shares();
    state.replaceAll((name, own) ->
        setup.network().tensorGroup().whole(own, shares.getOrDefault(name, StageState.WHOLE)));
    return state;
  }

  @Override
  public final void restore(Worker.Source source) {
    Map<String, Share> shares = shares();
    StageState.restore(
        StageState.of(whole, updates, averages()),
        name -> shares.getOrDefault(name, StageState.WHOLE),
        source);
    shards.forEach(shard -> shard.restore(updates, source));
    tied.restore(parameters(), source);
  }

  /** What the tensors of the state are to the tensor-parallel group. */
  private Map<String, Share> shares() {
    Map<String, Share> shares = new HashMap<>();
    for (Parameter parameter : parameters()) {
      shares.put(parameter.name(), parameter.share());
      for (int moment = 1; moment <= updates.perParameter(); moment++) {
        shares.put(StateNames.moment(parameter.name(), moment), parameter.share());
      }
    }
    return shares;
  }

  @Override
  public final void continueAfter(long before) {
    updates.continueAfter(before);
  }

  @Override
  public final long bytes() {
    return updates.bytes() + bytes(whole) + bytes(averages()) + sumBytes();
  }

  private static long bytes(List<Parameter> parameters) {
    return parameters.stream().mapToLong(parameter -> parameter.value().bytes()).sum();
  }

  /** The bytes of sums of gradients, and of shards with their parameters. */
  abstract long sumBytes();

  @Override
  public void count(LiveBytes live) {
    parameters().forEach(p -> live.add(LiveBytes.Kind.PARAMETERS, p.value()));
    averages().forEach(average -> live.add(LiveBytes.Kind.PARAMETERS, average.value()));
    shards.forEach(shard -> shard.count(live));
    try (Scope scope = new Scope()) {
      for (Parameter parameter : parameters()) {
        parameter.value().gradient().ifPresent(g -> live.add(LiveBytes.Kind.GRADIENTS, g));
      }
    }
    updates.count(live);
  }

  @Override
  public void close() {
    updates.close();
    shards.forEach(Shard::close);
    parameters().forEach(parameter -> parameter.value().close());
  }
}
