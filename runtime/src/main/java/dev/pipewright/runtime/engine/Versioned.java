package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * The parameters of an asynchronous pipeline's stage: both passes of a micro-batch use the same
 * version, and an update changes the newest. Sums of gradients go from turn to turn, or are
 * all-reduced.
 */
final class Versioned implements ParameterStore {
  private final WorkerSetup setup;
  private final int depth;
  private final Stage stage;
  private final AsyncPipeline asyncPipeline;
  private final List<Parameter> parameters; // learnt here, but for copies and aliases
  private final List<TiedCopy> copies; // of tables that another stage has, too
  private final Map<Parameter, Parameter> aliases; // of tables that two layers of the stage read
  private final AsyncSums sums;
  private final Optional<Group> group; // that reduces gradients
  private final List<Pending> pending = new ArrayList<>(); // reductions
  private final Updates updates;
  private final WeightVersions versions;
  private Optional<Relay> relay = Optional.empty(); // of the program
  private Iterator<Integer> unfinished = List.<Integer>of().iterator();
  private int oldest; // version that is needed

  /**
   * @param exchanges of the tied tables that this worker holds
   */
  Versioned(WorkerSetup setup, int depth, List<TiedExchange> exchanges) {
    this.setup = setup;
    this.depth = depth;
    this.stage = Stage.whole(setup.network(), setup.assignment().stages().get(depth));
    this.asyncPipeline = setup.assignment().asyncPipeline().orElseThrow();
    FlatParameters all = FlatParameters.of(parameters(), setup.network());
    this.sums = new AsyncSums(all, !setup.computation().learns());
    this.aliases = setup.computation().learns() ? all.aliases() : Map.of();
    this.group = group(setup, depth);
    this.parameters = new ArrayList<>(setup.learnt(all.own()));
    this.copies = new ArrayList<>();
    for (TiedExchange exchange : exchanges) {
      for (Parameter own : all.own()) {
        if (exchange.concerns(depth) && exchange.exchanges(own)) {
          copies.add(new TiedCopy(setup, depth, own, exchange));
          parameters.remove(own);
        }
      }
    }
    this.updates = setup.updates(parameters);
    this.versions = new WeightVersions(parameters, aliases);
  }

  /** All workers with the stage, where they reduce its gradients. */
  private static Optional<Group> group(WorkerSetup setup, int depth) {
    Assignment assignment = setup.assignment();
    for (long op : assignment.schedule().packed(setup.rank())) {
      if (Schedule.pass(op) == Pass.REDUCE
          && Schedule.stage(op) % assignment.stages().size() == depth) {
        return Optional.of(setup.transport().group("stage-" + depth, assignment.holders(depth)));
      }
    }
    return Optional.empty();
  }

  @Override
  public Stage stage() {
    return stage;
  }

  @Override
  public void begin(Assignment program) {
    relay.ifPresent(Relay::close);
    relay = Optional.of(new Relay(setup, program, depth, sums));
    versions.restart();
    copies.forEach(TiedCopy::begin);
    List<Integer> microBatches = new ArrayList<>();
    for (long op : program.schedule().packed(setup.rank())) {
      if (Schedule.pass(op) == Pass.BACKWARD
          && Schedule.stage(op) % asyncPipeline.stages() == depth) {
        microBatches.add(program.inFlow(Schedule.stage(op), Schedule.microBatch(op)));
      }
    }
    unfinished = microBatches.iterator();
    next();
  }

  private void next() {
    if (unfinished.hasNext()) {
      int microBatch = unfinished.next();
      oldest = asyncPipeline.version(depth, microBatch);
      copies.forEach(copy -> copy.unfinished(microBatch));
    } else {
      oldest = Integer.MAX_VALUE;
      copies.forEach(TiedCopy::allFinished);
    }
  }

  @Override
  public void ask(int turn) {
    relay.orElseThrow().ask(turn);
  }

  @Override
  public void await(int position) {
    relay.orElseThrow().await();
  }

  @Override
  public void ended(int position) {
    relay.orElseThrow().ended(position);
  }

  @Override
  public void forward(int microBatch, Runnable pass) {
    use(microBatch);
    pass.run();
  }

  @Override
  public void backward(int microBatch, boolean samples, Runnable pass) {
    use(microBatch);
    sums.with(microBatch / asyncPipeline.perUpdate(depth), pass);
    next();
  }

  private void use(int microBatch) {
    versions.use(asyncPipeline.version(depth, microBatch));
    copies.forEach(copy -> copy.use(microBatch));
  }

  @Override
  public void reduce(int update) {
    pending.add(group.orElseThrow().sum(sums.of(update)));
  }

  @Override
  public void update(int number) {
    pending.forEach(Pending::await);
    pending.clear();
    if (number != versions.newest()) {
      throw new IllegalStateException(
          "update %d of version %d".formatted(number, versions.newest()));
    }
    versions.next(oldest, () -> sums.with(number, () -> learn(number)));
  }

  private void learn(int number) {
    int batches =
        asyncPipeline.perUpdate(depth) / asyncPipeline.microBatches(); // whose mean counts
    try (Scope scope = new Scope()) {
      if (batches > 1) {
        sums.scale(number, 1.0 / batches);
      }
      copies.forEach(copy -> copy.hand(number));
    }
    setup.computation().update(stage, () -> updates.apply(parameters));
  }

  @Override
  public void flush() {
    copies.forEach(TiedCopy::finish);
  }

  @Override
  public SequencedMap<String, Tensor> state() {
    var state = StageState.of(parameters, updates, averages());
    copies.forEach(copy -> state.putAll(copy.state()));
    aliases.forEach(
        (alias, table) -> StageState.put(state, alias, StageState.held(table, updates)));
    return state;
  }

  @Override
  public void continueAfter(long before) {
    updates.continueAfter(before);
    copies.forEach(copy -> copy.continueAfter(before));
  }

  @Override
  public long bytes() {
    long older = versions.olderBytes() + copies.stream().mapToLong(TiedCopy::olderBytes).sum();
    long shared = aliases.values().stream().mapToLong(this::stateBytes).sum(); // counted twice
    return state().values().stream().mapToLong(Tensor::bytes).sum() - shared + older;
  }

  private long stateBytes(Parameter parameter) {
    return StageState.held(parameter, updates).stream().mapToLong(Tensor::bytes).sum();
  }

  @Override
  public void count(LiveBytes live) {
    parameters.forEach(parameter -> live.add(LiveBytes.Kind.PARAMETERS, parameter.value()));
    versions.count(live);
    averages().forEach(average -> live.add(LiveBytes.Kind.PARAMETERS, average.value()));
    updates.count(live);
    copies.forEach(copy -> copy.count(live));
    sums.count(live);
    relay.ifPresent(some -> some.count(live));
  }

  @Override
  public int versions() {
    return versions.most();
  }

  @Override
  public void close() {
    relay.ifPresent(Relay::close);
    parameters().forEach(parameter -> parameter.value().close());
    sums.close();
    versions.close();
    updates.close();
    copies.forEach(TiedCopy::close);
  }
}
