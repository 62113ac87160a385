package dev.pipewright.runtime.engine;

import dev.pipewright.execution.TrainingRequest.UpdateRule;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Tied;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * A stage of an asynchronous pipeline on a worker: both passes of a micro-batch use the same
 * parameter version, and an update changes the newest.
 */
final class AsyncStage extends RelayedStage<AsyncSums> {
  private final AsyncPipeline asyncPipeline;
  private final List<Parameter> parameters; // but for these copies
  private final List<TiedCopy> copies; // of what other stages have, too
  private final List<List<Parameter>> tied; // that are one
  private final Updates updates;
  private final WeightVersions versions;
  private Iterator<Integer> unfinished = List.<Integer>of().iterator();
  private int oldest; // version that is needed

  /**
   * @param tied parameters of the network that are one and the same
   * @param exchanges of those that this stage and another one have
   * @param pendingSends of what goes from worker to worker
   * @param group of those who reduce gradients together
   */
  AsyncStage(
      int depth,
      Stage stage,
      AsyncPipeline asyncPipeline,
      UpdateRule rule,
      List<Tied> tied,
      List<TiedExchange> exchanges,
      Transport transport,
      PendingSends pendingSends,
      Optional<Group> group) {
    super(depth, stage, new AsyncSums(stage.whole().parameters()), transport, pendingSends, group);
    this.asyncPipeline = asyncPipeline;
    this.parameters = new ArrayList<>(stage.whole().parameters());
    this.copies = new ArrayList<>();
    this.tied = new ArrayList<>();
    for (Tied pair : tied) {
      List<Parameter> own =
          parameters.stream()
              .filter(p -> Stream.of(pair.parameter(), pair.copy()).anyMatch(p.name()::equals))
              .toList();
      if (own.size() == 1) {
        copies.add(new TiedCopy(depth, own.get(0), exchange(exchanges, pair), rule));
        parameters.removeAll(own);
      } else if (own.size() == 2) {
        this.tied.add(own);
      }
    }
    this.updates = new Updates(rule, parameters);
    this.versions = new WeightVersions(parameters);
  }

  private static TiedExchange exchange(List<TiedExchange> exchanges, Tied pair) {
    return exchanges.stream()
        .filter(exchange -> exchange.stages().table().copyLayer() == pair.copyLayer())
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void begin(Assignment assignment) {
    super.begin(assignment);
    versions.restart();
    copies.forEach(TiedCopy::begin);
    long[] program = assignment.schedule().packed(assignment.rankOf(transport.worker()));
    List<Integer> microBatches = new ArrayList<>();
    for (long op : program) {
      if (Schedule.pass(op) == Pass.BACKWARD && isOf(op)) {
        microBatches.add(assignment.inFlow(Schedule.stage(op), Schedule.microBatch(op)));
      }
    }
    unfinished = microBatches.iterator();
    next();
  }

  private boolean isOf(long op) {
    return Schedule.stage(op) % asyncPipeline.stages() == depth;
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
  public void forward(int microBatch, Runnable pass) {
    use(microBatch);
    pass.run();
  }

  @Override
  public void backward(int microBatch, Runnable pass) {
    use(microBatch);
    sums.with(microBatch / asyncPipeline.perUpdate(depth), pass);
    next();
  }

  private void use(int microBatch) {
    versions.use(asyncPipeline.version(depth, microBatch));
    copies.forEach(copy -> copy.use(microBatch));
  }

  @Override
  public void update(int number) {
    awaitSum();
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
        parameters().stream()
            .flatMap(parameter -> parameter.value().gradient().stream())
            .forEach(gradient -> gradient.scaleInPlace(1.0 / batches));
      }
      tied.forEach(AsyncStage::addUp);
      copies.forEach(copy -> copy.hand(number));
    }
    updates.apply(parameters);
  }

  /** Parameters that are one have the sum of their gradients; what others get stays as it is. */
  private static void addUp(List<Parameter> pair) {
    Tensor sum = pair.get(0).value().gradient().orElseThrow().copy();
    for (Parameter other : pair.subList(1, pair.size())) {
      sum.addInPlace(other.value().gradient().orElseThrow());
    }
    pair.forEach(parameter -> parameter.value().setGradient(sum));
  }

  @Override
  public void finish() {
    copies.forEach(TiedCopy::finish);
  }

  @Override
  public SequencedMap<String, Tensor> state() {
    var state = StageState.of(parameters, updates, stage().whole().averages());
    copies.forEach(copy -> state.putAll(copy.state()));
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
    return state().values().stream().mapToLong(Tensor::bytes).sum() + older;
  }

  @Override
  public void count(LiveBytes live) {
    parameters.forEach(parameter -> live.add(LiveBytes.Kind.PARAMETERS, parameter.value()));
    versions.count(live);
    stage().whole().averages().forEach(a -> live.add(LiveBytes.Kind.PARAMETERS, a.value()));
    updates.count(live);
    copies.forEach(copy -> copy.count(live));
    sums.count(live);
    super.count(live);
  }

  @Override
  public int versions() {
    return versions.most();
  }

  @Override
  public void close() {
    super.close();
    sums.close();
    versions.close();
    updates.close();
    copies.forEach(TiedCopy::close);
  }
}
