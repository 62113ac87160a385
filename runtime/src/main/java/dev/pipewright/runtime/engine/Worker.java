package dev.pipewright.runtime.engine;

import dev.pipewright.execution.TrainingRequest.UpdateRule;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.data.Batch;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One worker: runs the program of its rank on its slice of every micro-batch, step after step. All
 * ops are run in the program's order; messages go and come beside them.
 */
public final class Worker implements AutoCloseable {
  /** Ops before the one that needs a message, from where on there is room for it. */
  private static final int AHEAD = 4;

  private final Assignment assignment;
  private final Transport transport;
  private final Feed feed;
  private final Objective objective;
  private final Witness witness;
  private final SharedStatistics statistics;
  private final long[] program;
  private final Crossing crossing;
  private final Updates updates;
  private final TiedSums tied;
  private final Map<Integer, HeldStage> held = new LinkedHashMap<>(); // by stage of a chain
  private final Map<Long, InFlight> inFlight = new HashMap<>(); // by stage and micro-batch
  private final Map<Long, List<Tensor>> lossGradients = new HashMap<>(); // likewise
  private final List<Parameter> parameters;
  private final StepTimes times;
  private double loss;
  private long correct;
  private long rows;

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
      Witness witness) {
    this.assignment = assignment;
    this.transport = transport;
    this.feed = feed;
    this.objective = objective;
    this.witness = witness;
    this.statistics =
        sharedStatistics ? RankStatistics.of(assignment, transport) : SharedStatistics.OWN;
    int rank = assignment.rankOf(transport.worker());
    this.program = assignment.schedule().packed(rank);
    List<Part> parts =
        assignment.stages().stream()
            .map(stage -> network.part(stage.range().first(), stage.range().last()))
            .toList();
    this.crossing = new Crossing(assignment, transport, parts);
    Placement placement = assignment.schedule().placement();
    for (int stage = 0; stage < placement.stages(); stage++) {
      if (placement.rankOf(stage) == rank) {
        int depth = stage % placement.depth();
        held.computeIfAbsent(
            depth, d -> HeldStage.of(assignment, d, network, transport, bucketBytes));
      }
    }
    this.parameters = held.values().stream().flatMap(s -> s.parameters().stream()).toList();
    this.updates = new Updates(rule, parameters);
    this.tied = TiedSums.of(assignment, network, parameters, transport);
    this.times = new StepTimes(program.length);
  }

  /** The parameters of its stages. */
  public List<Parameter> parameters() {
    return parameters;
  }

  /** Runs a step; all workers run the same one. */
  public StepReport step(long step) {
    loss = 0;
    correct = 0;
    rows = 0;
    held.values().forEach(HeldStage::begin);
    int expected = 0;
    for (int position = 0; position < program.length; position++) {
      for (; expected < Math.min(program.length, position + AHEAD); expected++) {
        expect(program[expected]);
      }
      witness.before(step, position, program[position]);
      times.waits(position);
      run(step, position, program[position]);
      times.ends(position);
    }
    witness.before(step, program.length, Witness.BEHIND);
    held.values().forEach(HeldStage::finishSums);
    tied.sum();
    times.updateStarts();
    updates.apply(parameters);
    held.values().forEach(HeldStage::clearGradients);
    crossing.flush();
    times.updateEnds();
    return times.report(step, loss, correct, rows);
  }

  private void expect(long op) {
    int stage = Schedule.stage(op);
    int microBatch = Schedule.microBatch(op);
    Pass pass = Schedule.pass(op);
    if (samples(stage, microBatch).isEmpty()) {
      return;
    }
    if (pass == Pass.FORWARD && !placement().first(stage)) {
      crossing.expect(stage, microBatch, true);
    } else if (pass.propagates() && !placement().last(stage)) {
      crossing.expect(stage, microBatch, false);
    }
  }

  private void run(long step, int position, long op) {
    int stage = Schedule.stage(op);
    int microBatch = Schedule.microBatch(op);
    Pass pass = Schedule.pass(op);
    boolean something = !samples(stage, microBatch).isEmpty();
    if (something) {
      switch (pass) {
        case FORWARD -> forward(step, position, stage, microBatch);
        case BACKWARD -> backward(position, stage, microBatch);
        case BACKWARD_INPUT -> backwardInput(position, stage, microBatch);
        case BACKWARD_WEIGHT -> backwardWeight(position, stage, microBatch);
        case RECOMPUTE -> recompute(position, stage, microBatch);
        case UPDATE, REDUCE, GATHER, HAND_ON ->
            throw new IllegalStateException("the engine has no op " + pass);
      }
    } else {
      times.starts(position);
    }
    if (pass.releases()) {
      held(stage).passed();
    }
  }

  private void forward(long step, int position, int stage, int microBatch) {
    HeldStage own = held(stage);
    List<Tensor> inputs =
        placement().first(stage) ? List.of() : crossing.take(stage, microBatch, true);
    times.starts(position);
    List<Tensor> data = new ArrayList<>();
    Optional<Tensor> target = Optional.empty();
    boolean last = placement().last(stage);
    if (own.stage().whole().readsData() || last) {
      try (Scope scope = new Scope()) {
        Batch batch = feed.read(step, samples(stage, microBatch));
        if (own.stage().whole().readsData()) {
          batch.inputs().forEach(input -> data.add(scope.keep(input)));
        }
        if (last) {
          target = Optional.of(scope.keep(batch.target()));
        }
      }
    }
    InFlight flight = new InFlight(own.stage(), data, own.inTwoParts(), statistics);
    inFlight.put(key(stage, microBatch), flight);
    List<Tensor> outputs = flight.forward(inputs);
    if (target.isPresent()) {
      lossGradients.put(key(stage, microBatch), answer(outputs, target.get()));
      outputs.forEach(Tensor::close);
      target.get().close();
    } else {
      crossing.send(stage, microBatch, true, outputs);
    }
  }

  /** The loss of the network's outputs counts; its gradients begin the backward pass. */
  private List<Tensor> answer(List<Tensor> outputs, Tensor target) {
    try (Scope scope = new Scope()) {
      Objective.Judged judged = objective.judge(outputs, target, 1.0 / assignment.batch());
      loss += judged.loss();
      correct += judged.correct();
      rows += judged.rows();
      List<Tensor> gradients = new ArrayList<>();
      judged.gradients().forEach(gradient -> gradients.add(scope.keep(gradient)));
      return gradients;
    }
  }

  private void backward(int position, int stage, int microBatch) {
    List<Tensor> gradients = gradients(stage, microBatch);
    times.starts(position);
    HeldStage own = held(stage);
    try (InFlight flight = flight(stage, microBatch, true)) {
      if (flight.wantsRecomputation()) {
        flight.recompute();
      }
      List<Tensor> before = flight.backward(gradients, own::left);
      handBack(stage, microBatch, gradients, before);
    }
  }

  private void backwardInput(int position, int stage, int microBatch) {
    List<Tensor> gradients = gradients(stage, microBatch);
    times.starts(position);
    InFlight flight = flight(stage, microBatch, false);
    if (flight.wantsRecomputation()) {
      flight.recompute();
    }
    handBack(stage, microBatch, gradients, flight.backwardInput(gradients));
  }

  private void backwardWeight(int position, int stage, int microBatch) {
    times.starts(position);
    try (InFlight flight = flight(stage, microBatch, true)) {
      flight.backwardWeight(held(stage)::left);
    }
  }

  private void recompute(int position, int stage, int microBatch) {
    times.starts(position);
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

  private InFlight flight(int stage, int microBatch, boolean done) {
    long key = key(stage, microBatch);
    InFlight flight = done ? inFlight.remove(key) : inFlight.get(key);
    if (flight == null) {
      throw new IllegalStateException("a backward pass without a forward pass");
    }
    return flight;
  }

  private Placement placement() {
    return assignment.schedule().placement();
  }

  private SampleRange samples(int stage, int microBatch) {
    return assignment.samples(stage, microBatch, transport.worker());
  }

  private HeldStage held(int stage) {
    HeldStage own = held.get(stage % placement().depth());
    if (own == null) {
      throw new IllegalStateException("a stage of another rank");
    }
    return own;
  }

  private static long key(int stage, int microBatch) {
    return (long) stage << 32 | microBatch;
  }

  @Override
  public void close() {
    inFlight.values().forEach(InFlight::close);
    lossGradients.values().forEach(gradients -> gradients.forEach(Tensor::close));
    crossing.close();
    updates.close();
    held.values().forEach(HeldStage::close);
    parameters.forEach(parameter -> parameter.value().close());
  }
}
