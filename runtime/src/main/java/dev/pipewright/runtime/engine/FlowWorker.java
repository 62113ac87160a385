package dev.pipewright.runtime.engine;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Expectation;
import dev.pipewright.execution.TrainingRequest.UpdateRule;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Flow;
import dev.pipewright.plan.FlowSteps;
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
 * A worker whose steps flow: nothing waits for the end of a step but what needs its update. Of the
 * program of all steps, a step is what leads to the last backward pass of its micro-batches here,
 * and the updates behind it.
 */
public final class FlowWorker implements Trainee {
  private static final long[] NOTHING = {};

  private final Assignment assignment; // of a round
  private final Flow flow;
  private final Transport transport;
  private final Witness witness;
  private final int rank;
  private final Computation computation;
  private final List<Part> parts; // of each stage of a chain
  private final Map<Integer, Flowing> held = new LinkedHashMap<>(); // by stage of a chain
  private final List<TiedExchange> exchanges; // of what two stages have
  private final Departures departures = new Departures(); // of sums
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
  public FlowWorker(
      Assignment assignment,
      Network network,
      Objective objective,
      UpdateRule rule,
      Feed feed,
      Transport transport,
      boolean sharedStatistics,
      Witness witness) {
    this(
        assignment,
        network,
        new Learning(
            assignment,
            objective,
            feed,
            sharedStatistics ? RankStatistics.of(assignment, transport) : SharedStatistics.OWN,
            true),
        transport,
        witness,
        (depth, stage, exchanges, departures, group) ->
            assignment.inOnePlace()
                ? new TravellingStage(
                    depth,
                    stage,
                    rule,
                    network.tied(),
                    transport,
                    departures,
                    assignment.keeper(depth))
                : new FlowStage(
                    depth,
                    stage,
                    assignment.flow().orElseThrow(),
                    rule,
                    network.tied(),
                    exchanges,
                    transport,
                    departures,
                    group));
  }

  /**
   * A worker that only takes the time of its ops; its messages are as large as real ones.
   *
   * @param network without numbers
   */
  public static FlowWorker emulating(
      Emulation emulation,
      Assignment assignment,
      Network network,
      Transport transport,
      Witness witness) {
    return new FlowWorker(
        assignment,
        network,
        new Emulated(emulation, List.of()),
        transport,
        witness,
        (depth, stage, exchanges, departures, group) ->
            new EmulatedStage(depth, stage, emulation, exchanges, transport, departures, group));
  }

  /** Makes what a worker holds of a stage. */
  private interface Making {
    /**
     * @param exchanges of what it and another stage have
     * @param group of those who reduce its gradients together
     */
    Flowing stage(
        int depth,
        Stage stage,
        List<TiedExchange> exchanges,
        Departures departures,
        Optional<Group> group);
  }

  private FlowWorker(
      Assignment assignment,
      Network network,
      Computation computation,
      Transport transport,
      Witness witness,
      Making making) {
    this.assignment = assignment;
    this.all = assignment;
    this.flow = assignment.flow().orElseThrow();
    this.transport = transport;
    this.witness = witness;
    this.rank = assignment.rankOf(transport.worker());
    this.parts = Stage.parts(assignment, network);
    this.computation = computation;
    this.passes = new Passes(assignment, transport, parts, computation);
    this.exchanges = TiedExchange.of(assignment, network, transport);
    for (int depth = 0; depth < flow.stages(); depth++) { // the same order on all workers
      if (assignment.holders(depth).contains(transport.worker())) {
        Stage stage = Stage.whole(network, assignment.stages().get(depth));
        held.put(depth, making.stage(depth, stage, tied(depth), departures, group(depth)));
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
    return Schedule.stage(op) % flow.stages();
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
    return held.values().stream().mapToLong(Flowing::bytes).sum();
  }

  @Override
  public LiveBytes live() {
    LiveBytes live = new LiveBytes();
    held.values().forEach(stage -> stage.count(live));
    exchanges.forEach(exchange -> exchange.count(live));
    passes.count(live);
    departures.count(live);
    return live;
  }

  @Override
  public void continueAfter(long steps) {
    held.forEach(
        (stage, own) -> own.continueAfter(steps * flow.microBatches() / flow.perUpdate(stage)));
  }

  @Override
  public void begin(long step, int steps) {
    first = step;
    all = assignment.over(steps);
    program = all.schedule().packed(rank);
    ends = FlowSteps.ends(all, rank);
    position = 0;
    expected = 0;
    passes.close();
    passes = new Passes(all, transport, parts, computation);
    held.values().forEach(own -> own.begin(all));
  }

  /** The step that a pass computes samples of. */
  private long stepOf(long op) {
    return first + microBatch(op) / flow.microBatches();
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
      witness.before(step, at, program[position]);
      times.waits(at);
      run(program[position], () -> times.starts(at));
      times.ends(at);
      position++;
    }
    witness.before(step, end - from, Witness.BEHIND);
    times.updateStarts();
    if (end == program.length) {
      passes.flush();
      held.values().forEach(Flowing::finish);
      departures.flush();
    }
    times.updateEnds();
    Computation.Score score = computation.score(step);
    return times.report(step, score.loss(), score.correct(), score.rows());
  }

  private void expect() {
    while (expected < Math.min(program.length, position + Expectation.OPS_AHEAD)) {
      long op = program[expected++];
      if (Schedule.pass(op) == Pass.FORWARD || Schedule.pass(op) == Pass.BACKWARD) {
        passes.expect(op);
      }
    }
  }

  private void run(long op, Runnable starts) {
    Flowing own = held(depth(op));
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
          throw new IllegalStateException("steps that flow have no op " + Schedule.pass(op));
    }
    own.ended(position);
  }

  private void pass(long op, Flowing own, Runnable starts) {
    if (passes.computes(op)) {
      passes.run(op, stepOf(op), own, starts);
    } else {
      starts.run();
    }
  }

  private Flowing held(int stage) {
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
  public Answers answer(Feed samples, int count, Objective objective) {
    held.forEach(this::shareAverages);
    Map<Integer, OwnStage> stages = new LinkedHashMap<>();
    held.forEach((stage, own) -> stages.put(stage, own.answering()));
    Answers answers =
        new Answering(assignment, transport, parts, depth -> of(stages, depth), objective)
            .answer(samples, count);
    departures.flush();
    return answers;
  }

  /** Has all workers that hold a stage go on with the averages of the first, message by message. */
  private void shareAverages(int stage, Flowing own) {
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
    departures.close();
    passes.close();
    exchanges.forEach(TiedExchange::close);
    held.values().forEach(Flowing::close);
  }
}
