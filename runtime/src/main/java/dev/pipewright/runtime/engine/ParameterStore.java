package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.SequencedMap;

/**
 * The parameters of a stage on a worker: which version a pass computes with, where gradients are
 * summed, when they are applied, and what is sent to other workers for that. A worker runs the ops
 * of its program and asks the store of each op's stage.
 *
 * <table>
 *   <caption>Stores</caption>
 *   <tr><th>store<th>parameters<th>gradients<th>updates
 *   <tr><td>{@link Resident}<td>all, one version<td>all-reduced<td>at the end of a step
 *   <tr><td>{@link Sharded}<td>ZeRO: a part, or all<td>reduce-scattered<td>at the end of a step
 *   <tr><td>{@link Versioned}<td>all, versions in use<td>passed from turn to turn<td>an op
 *   <tr><td>{@link Migrating}<td>with one worker at a time<td>with the parameters<td>an op
 * </table>
 *
 * <p>Emulated workers use the same stores, so that they send the same messages; their {@link
 * Computation} does not learn.
 */
sealed interface ParameterStore extends StageParameters, AutoCloseable
    permits Flushed, Versioned, Migrating {
  /**
   * The store of a stage of a chain. Collective: all workers that hold the stage call it.
   *
   * @param tied of a worker whose steps end with a flush
   * @param exchanges of an asynchronous worker
   */
  static ParameterStore of(
      WorkerSetup setup, int depth, TiedSums tied, List<TiedExchange> exchanges) {
    Assignment assignment = setup.assignment();
    if (assignment.inOnePlace()) {
      return new Migrating(setup, depth);
    }
    if (assignment.asyncPipeline().isPresent()) {
      return new Versioned(setup, depth, exchanges);
    }
    return assignment.sharding(depth) == ZeroStage.NOTHING
        ? new Resident(setup, depth, tied)
        : Sharded.of(setup, depth, tied);
  }

  default List<Parameter> parameters() {
    return stage().whole().parameters();
  }

  /** Running averages, which each worker that holds the stage takes over its own samples. */
  default List<Parameter> averages() {
    return stage().whole().averages();
  }

  // ---- ops

  /** Begins a program: one step, or all steps of an asynchronous pipeline between two flushes. */
  void begin(Assignment program);

  /** Requests what the previous turn sends to this one. */
  default void ask(int turn) {
    throw new IllegalStateException("parameters that take no turns");
  }

  /** Waits for everything requested; the op at this position of the program comes next. */
  default void await(int position) {
    // nothing is requested
  }

  /** Runs a pass that computes with the parameters. */
  void forward(int microBatch, Runnable pass);

  /**
   * Runs a pass that adds to the gradients, of the oldest micro-batch in flight.
   *
   * @param samples whether this worker has samples in the pass
   */
  void backward(int microBatch, boolean samples, Runnable pass);

  /** Begins to sum an update's gradients over all workers that hold the stage. */
  default void reduce(int update) {
    throw new IllegalStateException("gradients that are summed without an op");
  }

  /** Updates the newest version. */
  default void update(int number) {
    throw new IllegalStateException("parameters that are updated at the flush");
  }

  /** An op of the stage has ended. */
  default void ended(int position) {
    // nothing waits for it
  }

  /** All ops have ended: waits for sums of gradients that are in progress. */
  default void awaitSums() {
    // an update has awaited them
  }

  /** Ends the program, so that the newest version is the only one. */
  void flush();

  // ---- between programs

  /** The stage for evaluations, made anew for each one. */
  default StageParameters answering() {
    return this;
  }

  /**
   * All that training changes of the stage, by names that are unique in the network; empty where
   * another worker holds it. Full tensors. Collective: every worker of the stage's tensor-parallel
   * and ZeRO groups must call it.
   */
  SequencedMap<String, Tensor> state();

  /** Replaces the state, or what this worker has of it. */
  default void restore(Worker.Source source) {
    StageState.restore(state(), name -> StageState.WHOLE, source);
  }

  /** Continues after so many updates. */
  void continueAfter(long updates);

  /** Bytes between steps. */
  long bytes();

  void count(LiveBytes live);

  /** The largest number of versions of the parameters that were here at once. */
  default int versions() {
    return 1;
  }

  @Override
  void close();
}
