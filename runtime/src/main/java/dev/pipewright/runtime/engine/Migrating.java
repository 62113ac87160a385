package dev.pipewright.runtime.engine;

import dev.pipewright.exchange.OwnershipSchedule;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.TensorArena;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A stage of cyclic data parallelism with ZeRO, whose states migrate from worker to worker:
 * parameters, optimizer state and the gradients summed so far. The sender keeps no copy; in
 * asynchronous runs each stage has an owner between steps (arXiv:2403.08837, §4.4).
 *
 * <p>Activations that a forward pass keeps may refer to parameters. That memory is empty while the
 * parameters are away. Both passes use the same version, so it holds the same values again when
 * they return.
 */
final class Migrating implements ParameterStore {
  private static final int MOST_PIECES = 8; // of the states, in messages of their own

  private final int depth;
  private final Stage stage;
  private final FlatParameters flat;
  private final WorkerSetup setup;
  private final PendingReceives receives;
  private final int home; // the worker that owns them between programs
  private final TensorArena room; // of the parameters, while passes use them
  private final Parameter newest; // version of all of them, one after the other
  private final Updates updates;
  private @Nullable Tensor older; // version
  private @Nullable Tensor sum; // of gradients so far
  private @Nullable Journey journey; // of the steps that flow now, or did last
  private int stop; // at which the next op is
  private int most = 1; // versions

  private record Journey(Assignment all, OwnershipSchedule way) {}

  /** All workers begin with the same parameters. */
  Migrating(WorkerSetup setup, int depth) {
    this.setup = setup;
    this.receives = new PendingReceives(setup.transport());
    this.depth = depth;
    this.stage = Stage.whole(setup.network(), setup.assignment().stages().get(depth));
    this.flat = FlatParameters.of(parameters(), setup.network());
    this.home = setup.assignment().keeper(depth);
    this.room = new TensorArena(flat.elements());
    flat.own().forEach(parameter -> room.take(parameter.value(), flat.place(parameter)));
    flat.aliases().forEach((alias, table) -> room.share(alias.value(), flat.place(table)));
    this.newest = new Parameter("stage-" + depth, made());
    this.updates = setup.updates(List.of(newest));
    TensorArena.move(room.numbers(), newest.value());
    if (!atHome()) {
      states().forEach(TensorArena::empty);
    }
  }

  private boolean atHome() {
    return setup.worker() == home;
  }

  private Tensor made() {
    try (Scope scope = new Scope()) {
      return scope.keep(Tensor.empty(flat.elements()));
    }
  }

  /** What always goes along. */
  private List<Tensor> states() {
    return StageState.held(newest, updates);
  }

  @Override
  public Stage stage() {
    return stage;
  }

  // ---- the way

  private Journey journey() {
    return Objects.requireNonNull(journey, "no steps have begun");
  }

  @Override
  public void begin(Assignment all) {
    journey = new Journey(all, OwnershipSchedule.of(all, depth));
    if (atHome()) {
      gradientPass(0);
    }
  }

  @Override
  public void ask(int at) {
    OwnershipSchedule way = journey().way();
    if (!way.comes(at)) {
      return;
    }
    int from = way.worker(at - 1);
    int piece = 0;
    for (Tensor state : states()) {
      expect(from, tag(at, piece++), tensor -> TensorArena.move(tensor, state));
    }
    if (way.older(at)) {
      expect(from, tag(at, piece++), tensor -> older = tensor.shared());
    }
    if (way.sum(at)) {
      expect(from, tag(at, piece), tensor -> sum = tensor.shared());
    }
  }

  private void expect(int from, int tag, Consumer<Tensor> into) {
    receives.receive(made(), from, tag, into);
  }

  @Override
  public void await(int position) {
    Journey now = journey();
    stop = now.way().at(setup.rank(), position);
    arrive();
  }

  private void arrive() {
    receives.await();
    most = Math.max(most, older == null ? 1 : 2);
  }

  @Override
  public void ended(int position) {
    if (older != null && !journey().way().older(stop + 1)) {
      older.close();
      older = null;
    }
    gradientPass(stop + 1);
  }

  /** Sends all there is to who needs it next, unless that is this worker. */
  private void gradientPass(int next) {
    OwnershipSchedule way = journey().way();
    if (!way.comes(next)) {
      return;
    }
    int to = way.worker(next);
    int piece = 0;
    for (Tensor state : states()) {
      setup.sends().send(taken(state), to, tag(next, piece++));
    }
    if (older != null) {
      setup.sends().send(older, to, tag(next, piece++));
      older = null;
    }
    if (sum != null) {
      setup.sends().send(sum, to, tag(next, piece));
      sum = null;
    }
  }

  private static Tensor taken(Tensor state) {
    try (Scope scope = new Scope()) {
      return scope.keep(TensorArena.taken(state));
    }
  }

  private int tag(int at, int piece) {
    return Relay.FIRST_TAG + (at * setup.transport().workers() + depth) * MOST_PIECES + piece;
  }

  @Override
  public void flush() {
    if (atHome()) {
      ask(journey().way().size());
      arrive();
    }
  }

  // ---- passes and updates

  @Override
  public void forward(int microBatch, Runnable pass) {
    Tensor version = older != null && journey().way().usesOlder(stop) ? older : newest.value();
    TensorArena.move(version, room.numbers());
    pass.run();
    TensorArena.move(room.numbers(), version);
  }

  @Override
  public void backward(int microBatch, boolean samples, Runnable pass) {
    Tensor added = sum;
    if (added == null) {
      added = made().zeroInPlace();
      sum = added;
    }
    List<Tensor> views = flat.views(added);
    flat.withGradients(views, () -> forward(microBatch, pass));
    views.forEach(Tensor::close);
  }

  @Override
  public void update(int number) {
    Tensor gradients = Objects.requireNonNull(sum, "an update without gradients");
    if (journey().way().older(stop + 1)) {
      try (Scope scope = new Scope()) {
        older = scope.keep(newest.value().copy());
      }
      most = 2;
    }
    newest.value().setGradient(gradients);
    updates.apply(List.of(newest));
    newest.value().clearGradient();
    gradients.close();
    sum = null;
  }

  // ---- between programs

  @Override
  public StageParameters answering() {
    return new FromHome(setup, stage, depth, room, newest.value(), home);
  }

  @Override
  public SequencedMap<String, Tensor> state() {
    SequencedMap<String, Tensor> state = new LinkedHashMap<>();
    if (!atHome()) {
      return state;
    }
    List<List<Tensor>> held = states().stream().map(this::lentViews).toList();
    for (Parameter parameter : parameters()) {
      int number = flat.own().indexOf(flat.aliases().getOrDefault(parameter, parameter));
      StageState.put(state, parameter, held.stream().map(views -> views.get(number)).toList());
    }
    averages().forEach(average -> state.put(average.name(), average.value()));
    return state;
  }

  /** Views that end with the scope that is open. */
  private List<Tensor> lentViews(Tensor all) {
    List<Tensor> views = flat.views(all);
    List<Tensor> lent = views.stream().map(Tensor::lent).toList();
    views.forEach(Tensor::close);
    return lent;
  }

  @Override
  public void continueAfter(long before) {
    updates.continueAfter(before);
  }

  @Override
  public long bytes() {
    long bytes = states().stream().mapToLong(TensorArena::bytes).sum();
    for (Parameter average : averages()) {
      bytes += average.value().bytes();
    }
    return bytes;
  }

  @Override
  public void count(LiveBytes live) {
    live.add(LiveBytes.Kind.PARAMETERS, newest.value());
    live.add(LiveBytes.Kind.PARAMETERS, room.numbers());
    if (older != null) {
      live.add(LiveBytes.Kind.PARAMETERS, older);
    }
    averages().forEach(average -> live.add(LiveBytes.Kind.PARAMETERS, average.value()));
    updates.count(live);
    if (sum != null) {
      live.add(LiveBytes.Kind.GRADIENTS, sum);
    }
    receives.count(live);
  }

  @Override
  public int versions() {
    return most;
  }

  @Override
  public void close() {
    receives.close();
    room.close();
    newest.value().close();
    updates.close();
    parameters().forEach(parameter -> parameter.value().close());
    if (older != null) {
      older.close();
    }
    if (sum != null) {
      sum.close();
    }
  }
}
