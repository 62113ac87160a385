package dev.pipewright.bench.dapple;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** DAPPLE's table VIII: the deepest BERT that straight pipelines with recomputation can train. */
public final class Table8 implements Reproduction {
  private static final int[] DEVICES = {1, 2, 4, 8};
  private static final int[] PAPER_LAYERS = {48, 106, 215, 428};
  private static final double[] PAPER_PARAMETERS = {0.64, 1.4, 2.7, 5.5};
  private static final double[] PAPER_GB = {10.2, 21.9, 43.8, 88.2};
  private static final int[] PAPER_UTILISATION = {93, 89, 89, 87};
  private static final int MICRO_BATCH = 2;
  private static final int MICRO_BATCHES = 32;
  private static final int MOST_LAYERS = 700;

  @Override
  public String name() {
    return "table8";
  }

  @Override
  public String summary() {
    return "DAPPLE, table VIII: the deepest BERT that fits.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "devices",
            "layers, paper",
            "ours",
            "parameters, paper, 10⁹",
            "ours ",
            "their state, paper, GB",
            "ours  ",
            "busy, paper",
            "ours   ");
    double[] xs = new double[DEVICES.length];
    double[] theirs = new double[DEVICES.length];
    double[] ours = new double[DEVICES.length];
    for (int i = 0; i < DEVICES.length; i++) {
      int layers = deepest(DEVICES[i]);
      StageCosts costs = costs(layers, DEVICES[i]);
      Candidate best = planned(costs).orElseThrow();
      double parameters = (double) costs.workload().chain().graph().parameters();
      table.row(
          DEVICES[i],
          PAPER_LAYERS[i],
          layers,
          PAPER_PARAMETERS[i],
          Numbers.fixed(parameters / 1e9, 2),
          PAPER_GB[i],
          Numbers.fixed(costs.staticBytes(0, costs.size()) / 1e9, 1),
          PAPER_UTILISATION[i] + " %",
          Numbers.percent(busy(best)));
      xs[i] = DEVICES[i];
      theirs[i] = PAPER_LAYERS[i];
      ours[i] = layers;
    }
    Lines lines =
        new Lines(
                "Deepest BERT that fits",
                Axis.fromZero("devices of 16 GB").marked(1, 2, 4, 8),
                Axis.fromZero("layers"),
                360)
            .add("ours", xs, ours)
            .add("paper", xs, theirs);
    return new Report("DAPPLE, table VIII: the largest BERT by devices, recomputation, config A")
        .paragraph(
            ("Straight pipelines on one machine, every stage recomputes, Adam in 32 bits (16 bytes per"
                    + " parameter), 384 tokens, %d micro-batches of %d samples. Busy: share of the step"
                    + " in which a device computes, average over devices. Ours counts weights, gradients,"
                    + " optimizer and activations and nothing else, hence more layers: whatever a"
                    + " framework, its context and fragmentation take is not in it.")
                .formatted(MICRO_BATCHES, MICRO_BATCH))
        .table(table)
        .figure(new Figure("DAPPLE, table VIII: depth by devices", 640, 1).add(lines));
  }

  /** By bisection: a deeper network needs more of every device. */
  private static int deepest(int devices) {
    int fits = devices;
    int fails = MOST_LAYERS;
    while (fails - fits > 1) {
      int middle = (fits + fails) / 2;
      if (planned(costs(middle, devices)).isPresent()) {
        fits = middle;
      } else {
        fails = middle;
      }
    }
    return fits;
  }

  private static StageCosts costs(int layers, int devices) {
    return Networks.zoo("bert-" + layers, Networks.cluster("dapple-a:1x" + devices), MICRO_BATCH);
  }

  private static Optional<Candidate> planned(StageCosts costs) {
    Request request =
        new Request(
            MICRO_BATCH * MICRO_BATCHES,
            OptionalInt.of(MICRO_BATCH),
            List.of(PipelinePolicy.A),
            Recomputation.ALWAYS,
            CostModel.PIPEWRIGHT,
            Shape.STRAIGHT);
    Planning planning = Networks.plan(costs, request);
    int devices = costs.workload().cluster().size();
    return planning.candidates().stream()
        .filter(one -> one.plan().stages().size() == devices)
        .findFirst();
  }

  private static double busy(Candidate candidate) {
    Assessment assessment = candidate.simulated().orElse(candidate.estimate());
    double sum = 0;
    for (StageCost stage : assessment.stages()) {
      sum += (stage.forwardSeconds() + stage.backwardSeconds()) * candidate.plan().microBatches();
    }
    return sum / assessment.stages().size() / assessment.stepSeconds();
  }
}
