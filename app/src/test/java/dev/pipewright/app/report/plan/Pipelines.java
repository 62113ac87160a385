package dev.pipewright.app.report.plan;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.cost.Throughput;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.planner.reasons.Reasons;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Content;
import dev.pipewright.trace.Timeline.Flow;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/** Pictures of one-forward-one-backward pipelines with equal stages, by walking their programs. */
public final class Pipelines {
  private static final double GIB = 1L << 30;

  private final int stages;
  private final int microBatches;
  private final double forward;
  private final double backward;
  private final double transfer;
  private final double allReduce;
  private final double[][] sentForward; // when the input of [stage][micro-batch] arrives
  private final double[][] sentBackward;
  private final List<List<Slice>> compute = new ArrayList<>();
  private final List<List<Slice>> there = new ArrayList<>(); // [stage] to stage + 1
  private final List<List<Slice>> back = new ArrayList<>(); // from stage + 1 to [stage]
  private final List<Flow> flows = new ArrayList<>();

  private Pipelines(int stages, int microBatches, double... seconds) {
    this.stages = stages;
    this.microBatches = microBatches;
    forward = seconds[0];
    backward = seconds[1];
    transfer = seconds[2];
    allReduce = seconds[3];
    sentForward = new double[stages][microBatches];
    sentBackward = new double[stages][microBatches];
    for (int stage = 0; stage < stages; stage++) {
      compute.add(new ArrayList<>());
      there.add(new ArrayList<>());
      back.add(new ArrayList<>());
      for (int m = 0; m < microBatches; m++) {
        sentForward[stage][m] = stage == 0 ? 0 : Double.NaN;
        sentBackward[stage][m] = stage == stages - 1 ? 0 : Double.NaN;
      }
    }
  }

  /** Seconds of one forward pass, backward pass, transfer and all-reduce. */
  public static Timeline timeline(
      int stages, int microBatches, double forward, double backward, double transfer, double sum) {
    return new Pipelines(stages, microBatches, forward, backward, transfer, sum).run();
  }

  private Timeline run() {
    var schedule = OneForwardOneBackward.of(stages, microBatches);
    int[] next = new int[stages];
    for (long done = 0; done < schedule.size(); ) {
      for (int stage = 0; stage < stages; stage++) {
        List<Op> program = schedule.program(stage);
        while (next[stage] < program.size() && execute(program.get(next[stage]))) {
          next[stage]++;
          done++;
        }
      }
    }
    double end = 0;
    for (int stage = 0; stage < stages; stage++) {
      double start = free(compute.get(stage));
      if (allReduce > 0) {
        compute.get(stage).add(new Slice(Kind.ALL_REDUCE, stage, -1, start, start + allReduce));
      }
      end = Math.max(end, start + allReduce);
    }
    return new Timeline(lanes(), flows, memory(), end);
  }

  private boolean execute(Op op) {
    boolean isForward = op.pass() == Op.Pass.FORWARD;
    double ready = (isForward ? sentForward : sentBackward)[op.stage()][op.microBatch()];
    if (Double.isNaN(ready)) {
      return false;
    }
    double start = Math.max(ready, free(compute.get(op.stage())));
    double end = start + (isForward ? forward : backward);
    Kind kind = isForward ? Kind.FORWARD : Kind.BACKWARD;
    compute.get(op.stage()).add(new Slice(kind, op.stage(), op.microBatch(), start, end));
    send(op.stage(), op.stage() + (isForward ? 1 : -1), op.microBatch(), end);
    return true;
  }

  private void send(int from, int to, int microBatch, double ready) {
    if (to < 0 || to == stages) {
      return;
    }
    boolean isForward = to > from;
    List<Slice> link = isForward ? there.get(from) : back.get(to);
    double start = Math.max(ready, free(link));
    double end = start + transfer;
    Kind kind = isForward ? Kind.TRANSFER_FORWARD : Kind.TRANSFER_BACKWARD;
    link.add(new Slice(kind, from, microBatch, start, end));
    (isForward ? sentForward : sentBackward)[to][microBatch] = end;
    Op receiver = new Op(isForward ? Op.Pass.FORWARD : Op.Pass.BACKWARD, to, microBatch);
    flows.add(
        new Flow(
            isForward ? Content.ACTIVATIONS : Content.GRADIENTS,
            from,
            compute.get(from).size() - 1,
            to,
            OneForwardOneBackward.of(stages, microBatches).program(to).indexOf(receiver)));
  }

  private static double free(List<Slice> lane) {
    return lane.isEmpty() ? 0 : lane.get(lane.size() - 1).end();
  }

  private List<Lane> lanes() {
    List<Lane> lanes = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      List<Slice> slices = compute.get(stage);
      double busy = microBatches * (forward + backward);
      double span = slices.get(2 * microBatches - 1).end() - slices.get(0).start();
      lanes.add(new Lane.Compute(stage, devices(stage), slices, busy, span));
      if (stage + 1 < stages) {
        lanes.add(new Lane.Link(stage, stage + 1, there.get(stage)));
        lanes.add(new Lane.Link(stage + 1, stage, back.get(stage)));
      }
    }
    return lanes;
  }

  /** Two devices a stage. */
  private static List<Integer> devices(int stage) {
    return List.of(2 * stage, 2 * stage + 1);
  }

  private List<Memory> memory() {
    List<Memory> memory = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      List<double[]> steps = new ArrayList<>(List.of(new double[] {0, 3 * GIB}));
      double held = 3 * GIB;
      for (Slice slice : compute.get(stage)) {
        if (slice.kind() == Kind.FORWARD) {
          held += GIB / 2;
          steps.add(new double[] {slice.start(), held});
        } else if (slice.kind() == Kind.BACKWARD) {
          held -= GIB / 2;
          steps.add(new double[] {slice.end(), held});
        }
      }
      double[] seconds = steps.stream().mapToDouble(step -> step[0]).toArray();
      double[] bytes = steps.stream().mapToDouble(step -> step[1]).toArray();
      memory.add(new Memory(stage, 3 * GIB, 16 * GIB, seconds, bytes));
    }
    return memory;
  }

  /**
   * A picture of that timeline, titled {@code title}, with a runner-up and a plan that does not
   * fit.
   */
  public static Picture picture(String title, int stages, int microBatches) {
    Timeline timeline = timeline(stages, microBatches, 0.010, 0.020, 0.003, 0.025);
    Candidate best = candidate("hybrid", stages, microBatches, timeline.stepSeconds(), 16);
    Candidate second = candidate("straight pipeline", 1, microBatches, 1.2 * best.seconds(), 16);
    Candidate third = candidate("data parallel", 1, 1, 1.7 * best.seconds(), 2);
    double serial = microBatches * stages * 2 * 0.030;
    var bound = new LowerBound(serial / (2 * stages), "work / devices");
    var planning =
        new Planning(
            "dapple",
            "pipewright",
            Optional.of(best),
            List.of(best, second, third),
            bound,
            "stage 0 computes 2.1 % longer than the average stage and its gradients are exchanged"
                + " after its last backward pass (25.0 ms)",
            serial,
            new Search(true, 12_345, "contiguous stages on whole machines"));
    return new Picture(
        title,
        planning,
        Optional.of(timeline),
        0.0213,
        "measured: vgg-19.json, V100-SXM2-16GB, 2024-05-01",
        Optional.of(TRAINING),
        Reasons.NONE);
  }

  private static final TrainingFigures TRAINING =
      new TrainingFigures(
          new Training(Optimizer.MOMENTUM, Precision.FP32),
          OptionalDouble.of(0.06),
          64,
          List.of(4, 8),
          Optional.of(
              new Throughput(
                  103,
                  OptionalDouble.empty(),
                  OptionalDouble.of(5e12),
                  OptionalDouble.of(0.32),
                  false)));

  private static Candidate candidate(
      String kind, int stages, int microBatches, double seconds, double gib) {
    PipelinePlan plan =
        new PipelinePlan(
            PipelinePolicy.A,
            microBatches,
            1,
            1,
            true,
            IntStream.range(0, stages).mapToObj(s -> stage(s, stages, microBatches)).toList());
    List<StageCost> costs =
        IntStream.range(0, stages).mapToObj(s -> cost(s, stages, microBatches, gib)).toList();
    return new Candidate(
        kind,
        plan,
        new Assessment("pipewright", 0.97 * seconds, costs),
        Optional.of(new Assessment("simulator", seconds, costs)));
  }

  private static StagePlan stage(int stage, int stages, int microBatches) {
    int inFlight = Math.min(microBatches, stages - stage);
    Recompute recompute = stage == 0 && stages > 2 ? Recompute.STAGE_INPUT : Recompute.NONE;
    return new StagePlan(10 * stage, 10 * stage + 9, devices(stage), recompute, inFlight);
  }

  private static StageCost cost(int stage, int stages, int microBatches, double gib) {
    double transfer = stage == stages - 1 ? 0 : 0.003;
    int inFlight = Math.min(microBatches, stages - stage);
    var memory =
        new StageMemory(
            new States(0.75 * GIB, 0.75 * GIB, 3 * GIB), GIB / 2, inFlight, 0, Bytes.gib(gib));
    return new StageCost(0.010, 0.020, transfer, transfer, 0.025, 0.025, 0.001, memory);
  }
}
