package dev.pipewright.runtime.engine;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.RunPrediction;
import dev.pipewright.execution.TrainingRequest.UpdateRule;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.net.Share;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;

/**
 * One worker: runs the program of its rank on its slice of every micro-batch, step after step. All
 * ops are run in the program's order; messages go and come beside them.
 */
public final class Worker implements TrainingWorker {
  private static final UpdateRule NO_OPTIMIZER_STATE = UpdateRule.usual(Optimizer.SGD);

  private final Assignment assignment;
  private final Network network;
  private final Transport transport;
  private final Computation computation;
  private final OpListener opListener;
  private final long[] program;
  private final Passes passes;
  private final Updates updates;
  private final TiedSums tied;
  private final List<Part> parts; // of each stage of a chain
  private final Map<Integer, HeldStage> held = new LinkedHashMap<>(); // by stage of a chain
  private final List<Parameter> parameters;
  private final List<Parameter> learnt; // here: all of them, or this worker's parts
  private final StepTimes times;

  /**
   * A worker that has made its parameters.
   *
   * @param bucketBytes of gradients that are summed at once where that overlaps the backward pass
   * @param sharedStatistics whether normalisations over samples take their averages over all
   *     workers of a rank
   */
  public Worker(
      Assignment assignment,
      Network network,
      Objective objective,
      UpdateRule rule,
      Feed feed,
      Transport transport,
      long bucketBytes,
      boolean sharedStatistics,
      OpListener opListener) {
    this(
        assignment,
        network,
        rule,
        held ->
            new TensorComputation(
                assignment,
                objective,
                feed,
                sharedStatistics ? RankStatistics.of(assignment, transport) : SharedStatistics.OWN,
                assignment.partOf(transport.worker()) == 0),
        transport,
        bucketBytes,
        opListener);
  }

  /**
   * A worker that only takes the time of its ops; its messages are as large as real ones.
   *
   * @param network without numbers
   */
  public static Worker emulating(
      Emulation emulation,
      Assignment assignment,
      Network network,
      Transport transport,
      long bucketBytes,
      OpListener opListener) {
    return new Worker(
        assignment,
        network,
        NO_OPTIMIZER_STATE,
        held -> new Emulated(emulation, held),
        transport,
        bucketBytes,
        opListener);
  }

  private Worker(
      Assignment assignment,
      Network network,
      UpdateRule rule,
      Function<Collection<HeldStage>, Computation> computation,
      Transport transport,
      long bucketBytes,
      OpListener opListener) {
    this.assignment = assignment;
    this.network = network;
    this.transport = transport;
    this.opListener = opListener;
    int rank = assignment.rankOf(transport.worker());
    Check.that(
        network.tensorGroup().split().equals(assignment.split(rank))
            || (network.tensorGroup().alone() && !assignment.split(rank).several()),
        "a worker's network is split like its stages: network=%s, stages=%s",
        network.tensorGroup().split(),
        assignment.split(rank));
    this.program = assignment.schedule().packed(rank);
    this.parts = Stage.parts(assignment, network);
    Placement placement = assignment.schedule().placement();
    for (int depth = 0; depth < placement.depth(); depth++) { // the same order on all workers
      for (int stage = depth; stage < placement.stages(); stage += placement.depth()) {
        if (placement.rankOf(stage) == rank) {
          held.computeIfAbsent(
              depth,
              d -> HeldStage.of(assignment, d, network, transport, bucketBytes, this::learn));
        }
      }
    }
    this.computation = computation.apply(held.values());
    this.passes = new Passes(assignment, transport, parts, this.computation);
    this.parameters = held.values().stream().flatMap(s -> s.parameters().stream()).toList();
    this.tied = TiedSums.of(assignment, network, parameters, transport);
    this.learnt = new ArrayList<>();
    held.values().forEach(stage -> learnt.addAll(stage.own()));
    learnt.removeIf(parameter -> !tied.shards(List.of(parameter)).isEmpty());
    tied.shards().forEach(shard -> learnt.add(shard.own()));
    this.updates = new Updates(rule, learnt);
    this.times = new StepTimes(program.length);
  }

  @Override
  public List<Parameter> parameters() {
    return parameters;
  }

  @Override
  public Set<Integer> stages() {
    return Collections.unmodifiableSet(held.keySet());
  }

  @Override
  public SequencedMap<String, Tensor> wholeState(int stage) {
    Map<String, Share> shares = shares(stage);
    SequencedMap<String, Tensor> whole = new LinkedHashMap<>();
    HeldStage held = held(stage);
    Map<String, List<Tensor>> gathered = StageState.gathered(shards(stage), updates);
    StageState.of(held.parameters(), updates, held.averages(), gathered)
        .forEach((name, own) -> {
          Share share = shares.getOrDefault(name, new Share.Whole());
          whole.put(name, network.tensorGroup().whole(own, share));
        });
    return whole;
  }

  @Override
  public void restore(int stage, Source source) {
    HeldStage held = held(stage);
    Map<String, Share> shares = shares(stage);
    StageState.of(kept(held), updates, held.averages())
        .forEach((name, own) -> {
          try (Scope scope = new Scope()) {
            Share share = shares.getOrDefault(name, new Share.Whole());
            Tensor whole = source.read(name, share.wholeShape(own.shape()));
            share.take(own.detached(), whole);
          }
        });
    shards(stage).forEach(shard -> restore(shard, source));
  }

  private void restore(Shard shard, Source source) {
    List<Tensor> parts = StageState.held(shard.own(), updates);
    for (int number = 0; number < parts.size(); number++) {
      try (Scope scope = new Scope()) {
        List<Tensor> pieces = new ArrayList<>();
        for (Parameter parameter : shard.parameters()) {
          String name =
              number == 0 ? parameter.name() : StageState.moment(parameter.name(), number);
          long[] shape = parameter.value().shape();
          Tensor piece = Tensor.empty(shape);
          parameter.share().take(piece, source.read(name, parameter.share().wholeShape(shape)));
          pieces.add(piece);
        }
        if (number == 0) {
          shard.take(pieces);
        } else {
          shard.take(pieces, parts.get(number));
        }
      }
    }
  }

  /** All of which the workers that hold a stage have parts. */
  private List<Shard> shards(int stage) {
    List<Shard> shards = new ArrayList<>(held(stage).shards());
    shards.addAll(tied.shards(held(stage).parameters()));
    return shards;
  }

  /** The parameters of a stage that this worker brings up to date whole. */
  private List<Parameter> kept(HeldStage stage) {
    return stage.parameters().stream().filter(learnt::contains).toList();
  }

  /** What the tensors of a stage's state are to those who compute it together. */
  private Map<String, Share> shares(int stage) {
    Map<String, Share> shares = new HashMap<>();
    for (Parameter parameter : held(stage).parameters()) {
      shares.put(parameter.name(), parameter.share());
      for (int moment = 1; moment <= updates.perParameter(); moment++) {
        shares.put(StageState.moment(parameter.name(), moment), parameter.share());
      }
    }
    return shares;
  }

  @Override
  public long restingBytes() {
    long bytes = updates.bytes();
    for (HeldStage stage : held.values()) {
      bytes += bytes(kept(stage)) + bytes(stage.averages()) + stage.sumBytes();
    }
    return bytes + tied.shards().stream().mapToLong(Shard::bytes).sum();
  }

  @Override
  public LiveBytes live() {
    LiveBytes live = new LiveBytes();
    held.values().forEach(stage -> stage.count(live));
    tied.shards().forEach(shard -> shard.count(live));
    updates.count(live);
    passes.count(live);
    return live;
  }

  private static long bytes(List<Parameter> parameters) {
    return parameters.stream().mapToLong(parameter -> parameter.value().bytes()).sum();
  }

  @Override
  public void continueAfter(long steps) {
    updates.continueAfter(steps);
  }

  @Override
  public void begin(long first, int steps) {
    // each step begins when the one before has ended
  }

  @Override
  public EvaluationResult answer(Feed samples, int count, Objective objective) {
    held.values().forEach(HeldStage::shareAverages);
    return new HeldOutEvaluation(assignment, transport, parts, this::held, objective)
        .answer(samples, count);
  }

  @Override
  public StepReport step(long step) {
    held.values().forEach(HeldStage::begin);
    int expected = 0;
    for (int position = 0; position < program.length; position++) {
      for (; expected < Math.min(program.length, position + RunPrediction.OPS_AHEAD); expected++) {
        passes.expect(program[expected]);
      }
      opListener.before(step, position, program[position]);
      times.waits(position);
      run(step, position, program[position]);
      times.ends(position);
    }
    opListener.before(step, program.length, OpListener.BEHIND);
    held.values().forEach(HeldStage::finishSums);
    tied.sum();
    times.updateStarts();
    computation.update(this::learnAll);
    passes.flush();
    times.updateEnds();
    Computation.Score score = computation.score(step);
    return times.report(step, score.loss(), score.correct(), score.rows());
  }

  /** Updates what no other worker waits for as long as its gradients are in the caches. */
  private void learn(List<Parameter> complete) {
    times.updatesAhead(() -> {
      updates.ahead(complete);
      complete.forEach(parameter -> parameter.value().clearGradient());
    });
  }

  private void learnAll() {
    updates.apply(learnt);
    held.values().forEach(HeldStage::clearGradients);
    held.values().forEach(HeldStage::spread);
    tied.spread();
  }

  private void run(long step, int position, long op) {
    HeldStage own = held(Schedule.stage(op));
    boolean something = passes.computes(op);
    if (something) {
      passes.run(op, step, own, () -> times.starts(position));
    } else {
      times.starts(position);
    }
    if (Schedule.pass(op).releases()) {
      own.passed(something);
    }
  }

  private Placement placement() {
    return assignment.schedule().placement();
  }

  private HeldStage held(int stage) {
    HeldStage own = held.get(stage % placement().depth());
    if (own == null) {
      throw new IllegalStateException("a stage of another rank");
    }
    return own;
  }

  @Override
  public void close() {
    passes.close();
    updates.close();
    held.values().forEach(HeldStage::close);
    tied.close();
    parameters.forEach(parameter -> parameter.value().close());
  }
}
