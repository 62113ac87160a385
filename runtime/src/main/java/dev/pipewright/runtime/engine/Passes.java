package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The forward and backward passes of a worker's program: what it holds of each micro-batch between
 * them, and what crosses the cuts to other stages.
 */
final class Passes implements AutoCloseable {
  private final Assignment assignment;
  private final int worker;
  private final Computation computation;
  private final Crossing crossing;
  private final Map<Long, Flight> inFlight = new HashMap<>(); // by stage and micro-batch
  private final Map<Long, List<Tensor>> lossGradients = new HashMap<>(); // likewise
  private int most; // in flight

  /**
   * @param parts of each stage of a chain
   */
  Passes(Assignment assignment, Transport transport, List<Part> parts, Computation computation) {
    this.assignment = assignment;
    this.worker = transport.worker();
    this.computation = computation;
    this.crossing = new Crossing(assignment, transport, parts);
  }

  /** Whether this worker has samples in an op. */
  boolean computes(long op) {
    return !samples(Schedule.stage(op), Schedule.microBatch(op)).isEmpty();
  }

  /** Makes room for what an op will need, if that is a pass that hears from another stage. */
  void expect(long op) {
    int stage = Schedule.stage(op);
    int microBatch = Schedule.microBatch(op);
    Pass pass = Schedule.pass(op);
    if (pass == Pass.FORWARD && !placement().first(stage) && computes(op)) {
      crossing.expect(stage, microBatch, true);
    } else if (pass.propagates() && !placement().last(stage) && computes(op)) {
      crossing.expect(stage, microBatch, false);
    }
  }

  /**
   * Runs a pass.
   *
   * @param step whose samples it computes
   * @param starts called when all is there that it needs
   */
  void run(long op, long step, StageParameters own, Runnable starts) {
    int stage = Schedule.stage(op);
    int microBatch = Schedule.microBatch(op);
    switch (Schedule.pass(op)) {
      case FORWARD -> forward(step, own, stage, microBatch, starts);
      case BACKWARD -> backward(own, stage, microBatch, starts);
      case BACKWARD_INPUT -> backwardInput(stage, microBatch, starts);
      case BACKWARD_WEIGHT -> backwardWeight(own, stage, microBatch, starts);
      case RECOMPUTE -> recompute(stage, microBatch, starts);
      case UPDATE, REDUCE, GATHER, HAND_ON ->
          throw new IllegalStateException("no pass: " + Schedule.pass(op));
    }
  }

  /** Runs a forward pass that no backward pass follows. */
  void evaluate(long op, StageParameters own) {
    run(op, 0, own, () -> {});
    int stage = Schedule.stage(op);
    int microBatch = Schedule.microBatch(op);
    flight(stage, microBatch, true).close();
    if (placement().last(stage)) {
      gradients(stage, microBatch).forEach(Tensor::close);
    }
  }

  private void forward(long step, StageParameters own, int stage, int microBatch, Runnable starts) {
    List<Tensor> inputs =
        placement().first(stage) ? List.of() : crossing.take(stage, microBatch, true);
    starts.run();
    boolean keeps = assignment.layers(stage, microBatch).recompute() == Recompute.NONE;
    Flight flight = computation.flight(own, step, samples(stage, microBatch), keeps);
    inFlight.put(key(stage, microBatch), flight);
    most = Math.max(most, inFlight.size());
    List<Tensor> outputs = flight.forward(inputs);
    if (placement().last(stage)) {
      lossGradients.put(key(stage, microBatch), flight.answer(outputs));
      outputs.forEach(Tensor::close);
    } else {
      crossing.send(stage, microBatch, true, outputs);
    }
  }

  private void backward(StageParameters own, int stage, int microBatch, Runnable starts) {
    List<Tensor> gradients = gradients(stage, microBatch);
    starts.run();
    try (Flight flight = flight(stage, microBatch, true)) {
      if (flight.wantsRecomputation()) {
        flight.recompute();
      }
      List<Tensor> before = flight.backward(gradients, own::left);
      handBack(stage, microBatch, gradients, before);
    }
  }

  private void backwardInput(int stage, int microBatch, Runnable starts) {
    List<Tensor> gradients = gradients(stage, microBatch);
    starts.run();
    Flight flight = flight(stage, microBatch, false);
    if (flight.wantsRecomputation()) {
      flight.recompute();
    }
    handBack(stage, microBatch, gradients, flight.backwardInput(gradients));
  }

  private void backwardWeight(StageParameters own, int stage, int microBatch, Runnable starts) {
    starts.run();
    try (Flight flight = flight(stage, microBatch, true)) {
      flight.backwardWeight(own::left);
    }
  }

  private void recompute(int stage, int microBatch, Runnable starts) {
    starts.run();
    flight(stage, microBatch, false).recompute();
  }

  private List<Tensor> gradients(int stage, int microBatch) {
    if (!placement().last(stage)) {
      return crossing.take(stage, microBatch, false);
    }
    List<Tensor> gradients = lossGradients.remove(key(stage, microBatch));
    if (gradients == null) {
      throw new IllegalStateException("a backward pass without a loss");
    }
    return gradients;
  }

  private void handBack(int stage, int microBatch, List<Tensor> spent, List<Tensor> gradients) {
    spent.forEach(Tensor::close);
    if (placement().first(stage)) {
      gradients.forEach(Tensor::close);
    } else {
      crossing.send(stage, microBatch, false, gradients);
    }
  }

  private Flight flight(int stage, int microBatch, boolean done) {
    long key = key(stage, microBatch);
    Flight flight = done ? inFlight.remove(key) : inFlight.get(key);
    if (flight == null) {
      throw new IllegalStateException("a backward pass without a forward pass");
    }
    return flight;
  }

  private Placement placement() {
    return assignment.schedule().placement();
  }

  private SampleRange samples(int stage, int microBatch) {
    return assignment.samples(stage, microBatch, worker);
  }

  private static long key(int stage, int microBatch) {
    return (long) stage << 32 | microBatch;
  }

  /** The most micro-batches that were ever in flight at once, over all stages. */
  int most() {
    return most;
  }

  /** Adds what is held between ops. */
  void count(LiveBytes live) {
    inFlight.values().forEach(flight -> flight.count(live));
    lossGradients.values().forEach(own -> live.add(LiveBytes.Kind.ACTIVATIONS, own));
    crossing.count(live);
  }

  /** Waits until everything has left that goes to other stages. */
  void flush() {
    crossing.flush();
  }

  @Override
  public void close() {
    inFlight.values().forEach(Flight::close);
    lossGradients.values().forEach(gradients -> gradients.forEach(Tensor::close));
    crossing.close();
  }
}
