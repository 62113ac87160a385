package dev.pipewright.runtime.engine;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.AsyncSteps;
import dev.pipewright.predict.run.RunPrediction;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * One worker of a training run: runs the program of its rank on its slice of every micro-batch. The
 * ops run in the program's order; messages overlap with them. What an op means for the parameters
 * is up to the {@link ParameterStore} of its stage.
 *
 * <p>A program is one step, whose updates follow its ops, or all steps of an asynchronous pipeline
 * between two flushes. A step of the latter ends with the last backward pass of its micro-batches
 * and the updates after it.
 */
public final class Worker implements AutoCloseable {
  private static final UpdateRule NO_OPTIMIZER_STATE = UpdateRule.usual(Optimizer.SGD);

  private final Assignment assignment; // of a step, or of a round
  private final Optional<AsyncPipeline> asyncPipeline;
  private final Transport transport;
  private final OpListener opListener;
  private final Computation computation;
  private final PendingSends sends; // between stores
  private final List<Part> parts; // of each stage of a chain
  private final TiedSums tied;
  private final List<TiedExchange> exchanges; // of tied tables in two stages
  private final Map<Integer, ParameterStore> stores = new LinkedHashMap<>(); // by stage of a chain
  private OpTimestamps times = new OpTimestamps(0); // of this step, or of the last one

  private Assignment running; // of the program
  private Passes passes;
  private long[] program;
  private int[] ends; // of each of its steps
  private long first; // step of the program
  private int position;
  private int expected; // positions

  /** Reads full tensors. */
  public interface Source {
    Tensor read(String name, long... shape);
  }

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
      LossFunction objective,
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
        TensorComputation.training(
            objective,
            feed,
            assignment,
            transport.worker(),
            sharedStatistics ? RankStatistics.of(assignment, transport) : SharedStatistics.OWN),
        transport,
        bucketBytes,
        opListener);
  }

  /**
   * A worker that only takes the time of its ops; its messages are as large as real ones.
   *
   * @param network of sizes
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
        new Emulated(emulation),
        transport,
        bucketBytes,
        opListener);
  }

  private Worker(
      Assignment assignment,
      Network network,
      UpdateRule rule,
      Computation computation,
      Transport transport,
      long bucketBytes,
      OpListener opListener) {
    int rank = assignment.rankOf(transport.worker());
    Check.that(
        network.tensorGroup().split().equals(assignment.split(rank))
            || (network.tensorGroup().alone() && !assignment.split(rank).several()),
        "a worker's network is split like its stages: network=%s, stages=%s",
        network.tensorGroup().split(),
        assignment.split(rank));
    this.assignment = assignment;
    this.asyncPipeline = assignment.asyncPipeline();
    this.transport = transport;
    this.opListener = opListener;
    this.computation = computation;
    this.sends = new PendingSends(transport);
    this.parts = Stage.parts(assignment, network);
    WorkerSetup setup =
        new WorkerSetup(
            assignment,
            network,
            rule,
            computation,
            transport,
            sends,
            bucketBytes,
            work -> times.updatesAhead(work));
    List<Integer> depths = // in the same order on all workers
        IntStream.range(0, parts.size())
            .filter(depth -> assignment.holders(depth).contains(transport.worker()))
            .boxed()
            .toList();
    this.tied =
        TiedSums.of(
            setup,
            depths.stream().flatMap(depth -> parts.get(depth).parameters().stream()).toList());
    this.exchanges = TiedExchange.of(assignment, network, transport);
    for (int depth : depths) {
      stores.put(depth, ParameterStore.of(setup, depth, tied, exchanges));
    }
    this.running = assignment;
    this.passes = new Passes(assignment, transport, parts, computation);
    this.program = assignment.schedule().packed(rank);
    this.ends = new int[] {program.length};
  }

  // ---- what it holds

  /** The parameters of its stages, which may have no memory between steps. */
  public List<Parameter> parameters() {
    return stores.values().stream().flatMap(store -> store.parameters().stream()).toList();
  }

  /** The stages of a chain that it holds. */
  public Set<Integer> stages() {
    return Collections.unmodifiableSet(stores.keySet());
  }

  /**
   * All that training changes of a stage: parameters, running averages, and optimizer state, by
   * names that are unique in the network. Of the workers that hold it, the first one's averages
   * count. Returns full tensors, which belong to the scope that is open. Collective: every rank of
   * the stage's tensor-parallel and ZeRO groups must call it.
   */
  public SequencedMap<String, Tensor> wholeState(int stage) {
    if (assignment.inOnePlace()) { // with the averages of the first worker, too
      HolderAverages.share(assignment, transport, stage, store(stage).averages());
    }
    return store(stage).state();
  }

  /** Replaces the state of a stage, or what this worker has of it, by what was written before. */
  public void restore(int stage, Source source) {
    store(stage).restore(source);
  }

  /** The bytes of its tensors between steps. */
  public long restingBytes() {
    return stores.values().stream().mapToLong(ParameterStore::bytes).sum() + tied.bytes();
  }

  /** The bytes of its tensors now; called on its own thread, between ops. */
  public LiveBytes live() {
    LiveBytes live = new LiveBytes();
    stores.values().forEach(store -> store.count(live));
    tied.count(live);
    exchanges.forEach(exchange -> exchange.count(live));
    passes.count(live);
    sends.count(live);
    return live;
  }

  /** The largest number of versions of a stage's parameters that there were at once. */
  int versions(int stage) {
    return store(stage).versions();
  }

  /** The passes of the current program, or of the last one. */
  Passes passes() {
    return passes;
  }

  // ---- steps

  /** Continues after so many steps, which gave the state that it has now. */
  public void continueAfter(long steps) {
    tied.continueAfter(steps);
    stores.forEach((stage, store) ->
        store.continueAfter(
            asyncPipeline
                .map(pipeline -> steps * pipeline.microBatches() / pipeline.perUpdate(stage))
                .orElse(steps)));
  }

  /**
   * Begins steps without a flush in between; all workers begin the same ones.
   *
   * @param step the first of them
   */
  public void begin(long step, int steps) {
    if (asyncPipeline.isPresent()) {
      running = assignment.over(steps);
      int rank = running.rankOf(transport.worker());
      program = running.schedule().packed(rank);
      ends = AsyncSteps.ends(running, rank);
      passes.close();
      passes = new Passes(running, transport, parts, computation);
      begin(step);
    }
  }

  private void begin(long step) {
    first = step;
    position = 0;
    expected = 0;
    stores.values().forEach(store -> store.begin(running));
  }

  /** Runs a step. */
  public StepReport step(long step) {
    if (asyncPipeline.isEmpty()) {
      begin(step);
    }
    int from = position;
    int end = ends[(int) (step - first)];
    times = new OpTimestamps(end - from);
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
    if (end == program.length) {
      flush();
    } else {
      times.updateStarts();
    }
    times.updateEnds();
    Score score = computation.score(step);
    return times.report(step, score.loss(), score.correct(), score.rows());
  }

  private void flush() {
    stores.values().forEach(ParameterStore::awaitSums);
    tied.sum();
    times.updateStarts();
    if (computation.learns()) {
      tied.learn();
    }
    stores.values().forEach(ParameterStore::flush);
    passes.flush();
    sends.flush();
  }

  private void expect() {
    while (expected < Math.min(program.length, position + RunPrediction.OPS_AHEAD)) {
      passes.expect(program[expected++]);
    }
  }

  private void run(long op, Runnable starts) {
    int number = Schedule.microBatch(op);
    ParameterStore store = store(depth(op));
    if (Schedule.pass(op) == Pass.HAND_ON) {
      starts.run();
      store.ask(number);
      return;
    }
    store.await(position);
    switch (Schedule.pass(op)) {
      case FORWARD, RECOMPUTE, BACKWARD_INPUT ->
          store.forward(microBatch(op), () -> pass(op, store, starts));
      case BACKWARD, BACKWARD_WEIGHT ->
          store.backward(microBatch(op), passes.computes(op), () -> pass(op, store, starts));
      case REDUCE -> {
        starts.run();
        store.reduce(number);
      }
      case UPDATE -> {
        starts.run();
        store.update(number);
      }
      case HAND_ON, GATHER ->
          throw new IllegalStateException("a worker has no op " + Schedule.pass(op));
    }
    store.ended(position);
  }

  private void pass(long op, ParameterStore store, Runnable starts) {
    if (passes.computes(op)) {
      passes.run(op, stepOf(op), store, starts);
    } else {
      starts.run();
    }
  }

  private int depth(long op) {
    return Schedule.stage(op) % parts.size();
  }

  /** The number of an op's micro-batch in the whole program. */
  private int microBatch(long op) {
    return running.inFlow(Schedule.stage(op), Schedule.microBatch(op));
  }

  /** The step whose samples a pass computes. */
  private long stepOf(long op) {
    return first + asyncPipeline.map(each -> microBatch(op) / each.microBatches()).orElse(0);
  }

  private ParameterStore store(int stage) {
    return of(stores, stage);
  }

  private static <T> T of(Map<Integer, T> held, int stage) {
    T own = held.get(stage);
    if (own == null) {
      throw new IllegalStateException("a stage of another rank");
    }
    return own;
  }

  // ---- between programs

  /**
   * Evaluates samples without learning from them; all workers call it after the same step.
   *
   * @param samples read as those of step 0
   * @param count of them, at least one for each chain
   */
  public Score answer(Feed samples, int count, LossFunction objective) {
    stores.forEach(
        (stage, store) -> HolderAverages.share(assignment, transport, stage, store.averages()));
    Map<Integer, StageParameters> stages = new LinkedHashMap<>();
    stores.forEach((stage, store) -> stages.put(stage, store.answering()));
    Score result =
        new HeldOutEvaluation(assignment, transport, parts, stage -> of(stages, stage), objective)
            .evaluate(samples, count);
    sends.flush();
    return result;
  }

  @Override
  public void close() {
    sends.close();
    passes.close();
    exchanges.forEach(TiedExchange::close);
    stores.values().forEach(ParameterStore::close);
    tied.close();
  }
}
