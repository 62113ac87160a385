package dev.pipewright.runtime.engine;

import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.checkpoint.StateNames;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.TensorArena;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parameters that a group of workers bring up to date together, each an equal part of them. They
 * follow each other, with a few zeros after the last where their number does not divide; a part may
 * begin in one parameter and end in another.
 */
final class Shard implements AutoCloseable {
  private final ZeroStage sharding;
  private final Group group;
  private final List<Parameter> parameters;
  private final long part; // numbers of each worker
  private final long first; // of this worker's
  private final TensorArena room;
  private final Parameter own;
  private final List<Parameter> tied = new ArrayList<>(); // to the first one
  private final List<Tensor> moving = new ArrayList<>(); // gradients, and their sum that comes
  private @Nullable Pending coming; // what is missing of the parameters

  /**
   * @param name of what this worker has of them, unique on it
   * @param place of this worker in the group
   */
  Shard(String name, ZeroStage sharding, Group group, int place, List<Parameter> parameters) {
    this.sharding = sharding;
    this.group = group;
    this.parameters = List.copyOf(parameters);
    this.part = Math.ceilDiv(FlatParameters.elements(parameters), group.size());
    this.first = place * part;
    this.room = new TensorArena(part * group.size());
    long from = 0;
    for (Parameter parameter : parameters) {
      room.take(parameter.value(), from);
      from += parameter.value().elements();
    }
    try (Scope scope = new Scope()) {
      Tensor mine = room.view(first, part);
      own = new Parameter(name, scope.keep(sharding == ZeroStage.PARAMETERS ? mine.copy() : mine));
    }
    if (sharding == ZeroStage.PARAMETERS) {
      room.empty();
    }
  }

  /** This worker's part, with its part of the sum of gradients where there is one. */
  Parameter own() {
    return own;
  }

  List<Parameter> parameters() {
    return parameters;
  }

  /** Has another parameter be the same as the first one. */
  void tie(Parameter other) {
    room.share(other.value(), 0);
    tied.add(other);
  }

  /** Those that are the same as the first one. */
  List<Parameter> tied() {
    return tied;
  }

  // ---- parameters

  /** Begins to get all parameters, where they are not here and do not come yet. */
  void ask() {
    if (!room.filled()) {
      room.fill();
      coming = group.gather(own.value(), room.numbers());
    }
  }

  /** Waits for them. */
  void await() {
    if (coming != null) {
      coming.await();
      coming = null;
    }
  }

  /** Keeps its own part only, once the others are no longer written. */
  void forget() {
    await();
    room.empty();
  }

  /** Begins to send its own part, which has changed. */
  private void spread() {
    if (sharding != ZeroStage.PARAMETERS) {
      coming = group.gather(own.value(), room.numbers());
    }
  }

  /** Has the workers of each shard send the parts that they have updated. */
  static void spread(List<Shard> shards) {
    shards.forEach(Shard::spread);
    shards.forEach(shard -> {
      shard.await();
      shard.own().value().clearGradient();
    });
  }

  // ---- gradients

  /**
   * Begins to add up what backward passes have left of gradients, and frees that: this worker's
   * part of the sum is added to what it has of earlier passes.
   */
  Pending addUp() {
    try (Scope scope = new Scope()) {
      Tensor all = scope.keep(Tensor.empty(part * group.size()));
      moveGradients(all);
      Tensor mine = scope.keep(Tensor.empty(part));
      moving.add(all);
      moving.add(mine);
      Pending sum = group.sumParts(all, mine);
      return Pending.of(List.of(sum), () -> add(all, mine));
    }
  }

  private void moveGradients(Tensor all) {
    long from = 0;
    for (Parameter parameter : parameters) {
      Tensor value = parameter.value();
      try (Scope scope = new Scope()) { // which frees what has moved
        Tensor place = all.part(0, from, value.elements()).reshaped(value.shape());
        value.gradient().ifPresentOrElse(place::copyInPlace, place::zeroInPlace);
      }
      value.clearGradient();
      from += value.elements();
    }
    try (Scope scope = new Scope()) {
      all.part(0, from, all.elements() - from).zeroInPlace();
    }
  }

  private void add(Tensor all, Tensor mine) {
    moving.clear();
    all.close();
    try (Scope scope = new Scope()) {
      own.value()
          .gradient()
          .ifPresentOrElse(sum -> sum.addInPlace(mine), () -> own.value().setGradient(mine));
    }
    mine.close();
  }

  // ---- whole tensors

  /** Whether the whole parameters are here. */
  boolean here() {
    return room.filled();
  }

  /**
   * Whole tensors like the parameters, of each of which every worker of the group has its part; all
   * call it. They belong to the scope that is open.
   */
  List<Tensor> gathered(Tensor part) {
    Tensor all = Tensor.empty(room.numbers().shape());
    group.gather(part, all).await();
    List<Tensor> whole = new ArrayList<>();
    long from = 0;
    for (Parameter parameter : parameters) {
      long elements = parameter.value().elements();
      whole.add(all.part(0, from, elements).reshaped(parameter.value().shape()));
      from += elements;
    }
    return whole;
  }

  /** Replaces this worker's part of the parameters, and what the rule remembers of it. */
  void restore(Updates updates, Worker.Source source) {
    List<Tensor> parts = StageState.held(own, updates);
    for (int number = 0; number < parts.size(); number++) {
      try (Scope scope = new Scope()) {
        List<Tensor> whole = new ArrayList<>();
        for (Parameter parameter : parameters) {
          String name =
              number == 0 ? parameter.name() : StateNames.moment(parameter.name(), number);
          long[] shape = parameter.value().shape();
          Tensor piece = Tensor.empty(shape);
          parameter.share().take(piece, source.read(name, parameter.share().wholeShape(shape)));
          whole.add(piece);
        }
        if (number == 0) {
          take(whole);
        } else {
          take(whole, parts.get(number));
        }
      }
    }
  }

  /** Takes this worker's part of whole tensors like the parameters. */
  private void take(List<Tensor> whole, Tensor part) {
    try (Scope scope = new Scope()) {
      List<Tensor> flat = new ArrayList<>();
      long from = 0;
      for (Tensor each : whole) {
        flat.add(each.detached().reshaped(each.elements()));
        from += each.elements();
      }
      flat.add(Tensor.zeros(room.numbers().elements() - from));
      part.copyInPlace(Tensor.joined(flat, 0).part(0, first, this.part));
    }
  }

  /** Has all parameters be those that every worker's part is a part of. */
  private void take(List<Tensor> whole) {
    take(whole, own.value());
    if (room.filled()) {
      for (int i = 0; i < whole.size(); i++) {
        parameters.get(i).value().detached().copyInPlace(whole.get(i));
      }
    }
  }

  /** Adds what it holds. */
  void count(LiveBytes live) {
    live.add(LiveBytes.Kind.PARAMETERS, room.numbers());
    live.add(LiveBytes.Kind.PARAMETERS, own.value());
    live.add(LiveBytes.Kind.GRADIENTS, moving);
    try (Scope scope = new Scope()) {
      own.value().gradient().ifPresent(sum -> live.add(LiveBytes.Kind.GRADIENTS, sum));
    }
  }

  /** What parameters and sums of gradients take up now. */
  long bytes() {
    long apart = sharding == ZeroStage.PARAMETERS ? own.value().bytes() : 0;
    return room.bytes() + apart + own.value().gradient().map(Tensor::bytes).orElse(0L);
  }

  @Override
  public void close() {
    own.value().close();
    room.close();
  }
}
