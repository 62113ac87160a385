package dev.pipewright.runtime.engine;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.RunPrediction;
import dev.pipewright.execution.TrainingRequest.UpdateRule;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.AsyncSteps;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;

/**
 * The worker of an asynchronous pipeline. It never waits for the end of a step, only for updates
 * that it needs. A step of its program ends with the last backward pass of the step's micro-batches
 * and the updates after it.
 */
public final class AsyncWorker implements TrainingWorker {
  private static final long[] NOTHING = {};

  private final Assignment assignment; // of a round
  private final AsyncPipeline asyncPipeline;
  private final Transport transport;
  private final OpListener opListener;
  private final int rank;
  private final Computation computation;
  private final List<Part> parts; // of each stage of a chain
  private final Map<Integer, AsyncTraining> held = new LinkedHashMap<>(); // by stage of a chain
  private final List<TiedExchange> exchanges; // of what two stages have
  private final PendingSends pendingSends = new PendingSends(); // of sums
  private Assignment all; // steps that flow
  private Passes passes;
  private long[] program = NOTHING;
  private long first; // step of the program
  private int[] ends = {}; // of each of its steps
  private int position;
  private int expected; // positions

  /**
   * A worker that has made its parameters.
   *
   * @param sharedStatistics whether normalisations over samples take their averages over all
   *     workers of a rank
   */
  public AsyncWorker(
      Assignment assignment,
      Network network,
      Objective objective,
      UpdateRule rule,
      Feed feed,
      Transport transport,
      boolean sharedStatistics,
      OpListener opListener) {
    this(
        assignment,
        network,
        new TensorComputation(
            assignment,
            objective,
            feed,
            sharedStatistics ? RankStatistics.of(assignment, transport) : SharedStatistics.OWN,
            true),
        transport,
        opListener,
        (depth, stage, exchanges, pendingSends, group) ->
            assignment.inOnePlace()
                ? new MigratingStage(
                    depth,
                    stage,
                    rule,
                    network.tied(),
                    transport,
                    pendingSends,
                    assignment.keeper(depth))
                : new AsyncStage(
                    depth,
                    stage,
                    assignment.asyncPipeline().orElseThrow(),
                    rule,
                    network.tied(),
                    exchanges,
                    transport,
                    pendingSends,
                    group));
  }

  /**
   * A worker that only takes the time of its ops; its messages are as large as real ones.
   *
   * @param network without numbers
   */
  public static AsyncWorker emulating(
      Emulation emulation,
      Assignment assignment,
      Network network,
      Transport transport,
      OpListener opListener) {
    return new AsyncWorker(
        assignment,
        network,
        new Emulated(emulation, List.of()),
        transport,
        opListener,
        (depth, stage, exchanges, pendingSends, group) ->
            new EmulatedStage(depth, stage, emulation, exchanges, transport, pendingSends, group));
  }

  /** Makes what a worker holds of a stage. */
  private interface Making {
    /**
     * @param exchanges of what it and another stage have
     * @param group of those who reduce its gradients together
     */
    AsyncTraining stage(
        int depth,
        Stage stage,
        List<TiedExchange> exchanges,
        PendingSends pendingSends,
        Optional<Group> group);
  }

  private AsyncWorker(
      Assignment assignment,
      Network network,
      Computation computation,
      Transport transport,
      OpListener opListener,
      Making making) {
    this.assignment = assignment;
    this.all = assignment;
    this.asyncPipeline = assignment.asyncPipeline().orElseThrow();
    this.transport = transport;
    this.opListener = opListener;
    this.rank = assignment.rankOf(transport.worker());
    this.parts = Stage.parts(assignment, network);
    this.computation = computation;
    this.passes = new Passes(assignment, transport, parts, computation);
    this.exchanges = TiedExchange.of(assignment, network, transport);
    for (int depth = 0; depth < asyncPipeline.stages(); depth++) { // the same order on all workers
      if (assignment.holders(depth).contains(transport.worker())) {
        Stage stage = Stage.whole(network, assignment.stages().get(depth));
        held.put(depth, making.stage(depth, stage, tied(depth), pendingSends, group(depth)));
      }
    }
  }

  private List<TiedExchange> tied(int depth) {
    return exchanges.stream().filter(exchange -> exchange.concerns(depth)).toList();
  }

  /** All workers with a stage, where they reduce its gradients. */
  private Optional<Group> group(int depth) {
    for (long op : assignment.schedule().packed(rank)) {
      if (Schedule.pass(op) == Pass.REDUCE && depth(op) == depth) {
        return Optional.of(transport.group("stage-" + depth, assignment.holders(depth)));
      }
    }
    return Optional.empty();
  }

  private int depth(long op) {
    return Schedule.stage(op) % asyncPipeline.stages();
  }

  @Override
  public List<Parameter> parameters() {
    return held.values().stream().flatMap(own -> own.parameters().stream()).toList();
  }

  @Override
  public Set<Integer> stages() {
    return Collections.unmodifiableSet(held.keySet());
  }

  @Override
  public SequencedMap<String, Tensor> wholeState(int stage) {
    if (assignment.inOnePlace()) { // with the averages of the first worker, too
      shareAverages(stage, held(stage));
    }
    return held(stage).state();
  }

  @Override
  public void restore(int stage, Source source) {
    held(stage)
        .state()
        .forEach((name, own) -> {
          try (Scope scope = new Scope()) {
            own.detached().copyInPlace(source.read(name, own.shape()));
          }
        });
  }

  /** The versions of a stage's parameters that there were at once at most. */
  int versions(int stage) {
    return held(stage).versions();
  }

  /** Of the steps that flow now, or did last. */
  Passes passes() {
    return passes;
  }

  @Override
  public long restingBytes() {
    return held.values().stream().mapToLong(AsyncTraining::bytes).sum();
  }

  @Override
  public LiveBytes live() {
    LiveBytes live = new LiveBytes();
    held.values().forEach(stage -> stage.count(live));
    exchanges.forEach(exchange -> exchange.count(live));
    passes.count(live);
    pendingSends.count(live);
    return live;
  }

  @Override
  public void continueAfter(long steps) {
    held.forEach((stage, own) ->
        own.continueAfter(steps * asyncPipeline.microBatches() / asyncPipeline.perUpdate(stage)));
  }

  @Override
  public void begin(long step, int steps) {
    first = step;
    all = assignment.over(steps);
    program = all.schedule().packed(rank);
    ends = AsyncSteps.ends(all, rank);
    position = 0;
    expected = 0;
    passes.close();
    passes = new Passes(all, transport, parts, computation);
    held.values().forEach(own -> own.begin(all));
  }

  /** The step that a pass computes samples of. */
  private long stepOf(long op) {
    return first + microBatch(op) / asyncPipeline.microBatches();
  }

  private int microBatch(long op) {
    return all.inFlow(Schedule.stage(op), Schedule.microBatch(op));
  }

  @Override
  public StepReport step(long step) {
    int from = position;
    int end = ends[(int) (step - first)];
    StepTimes times = new StepTimes(end - from);
    while (position < end) {
      expect();
      int at = position - from;
      opListener.before(step, at, program[position]);
      times.waits(at);
      run(program[position], () -> times.starts(at));
      times.ends(at);
      position++;
    }
    opListener.before(step, end - from, OpListener.BEHIND);
    times.updateStarts();
    if (end == program.length) {
      passes.flush();
      held.values().forEach(AsyncTraining::finish);
      pendingSends.flush();
    }
    times.updateEnds();
    Computation.Score score = computation.score(step);
    return times.report(step, score.loss(), score.correct(), score.rows());
  }

  private void expect() {
    while (expected < Math.min(program.length, position + RunPrediction.OPS_AHEAD)) {
      long op = program[expected++];
      if (Schedule.pass(op) == Pass.FORWARD || Schedule.pass(op) == Pass.BACKWARD) {
        passes.expect(op);
      }
    }
  }

  private void run(long op, Runnable starts) {
    AsyncTraining own = held(depth(op));
    if (Schedule.pass(op) == Pass.HAND_ON) {
      starts.run();
      own.ask(Schedule.microBatch(op));
      return;
    }
    own.await(position);
    switch (Schedule.pass(op)) {
      case FORWARD -> own.forward(microBatch(op), () -> pass(op, own, starts));
      case BACKWARD -> own.backward(microBatch(op), () -> pass(op, own, starts));
      case REDUCE -> {
        starts.run();
        own.reduce(Schedule.microBatch(op));
      }
      case UPDATE -> {
        starts.run();
        own.update(Schedule.microBatch(op));
      }
      case BACKWARD_INPUT, BACKWARD_WEIGHT, RECOMPUTE, GATHER, HAND_ON ->
          throw new IllegalStateException(
              "an asynchronous pipeline has no op " + Schedule.pass(op));
    }
    own.ended(position);
  }

  private void pass(long op, AsyncTraining own, Runnable starts) {
    if (passes.computes(op)) {
      passes.run(op, stepOf(op), own, starts);
    } else {
      starts.run();
    }
  }

  private AsyncTraining held(int stage) {
    return of(held, stage);
  }

  private static <T> T of(Map<Integer, T> held, int stage) {
    T own = held.get(stage);
    if (own == null) {
      throw new IllegalStateException("a stage of another rank");
    }
    return own;
  }

  @Override
  public EvaluationResult answer(Feed samples, int count, Objective objective) {
    held.forEach(this::shareAverages);
    Map<Integer, OwnStage> stages = new LinkedHashMap<>();
    held.forEach((stage, own) -> stages.put(stage, own.answering()));
    EvaluationResult answers =
        new HeldOutEvaluation(assignment, transport, parts, depth -> of(stages, depth), objective)
            .answer(samples, count);
    pendingSends.flush();
    return answers;
  }

  /** Has all workers that hold a stage go on with the averages of the first, message by message. */
  private void shareAverages(int stage, AsyncTraining own) {
    List<Integer> holders = assignment.holders(stage);
    int from = holders.get(0);
    int tag = 0;
    for (Parameter average : own.stage().whole().averages()) {
      if (transport.worker() != from) {
        transport.receive(average.value(), from, tag).await();
      } else {
        for (int to : holders.subList(1, holders.size())) {
          transport.send(average.value(), to, tag).await();
        }
      }
      tag++;
    }
  }

  @Override
  public void close() {
    pendingSends.close();
    passes.close();
    exchanges.forEach(TiedExchange::close);
    held.values().forEach(AsyncTraining::close);
  }
}
