package dev.pipewright.bench.runtime;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;

/**
 * What is learnt with gradients of older parameters beside what is learnt step by step: a narrow
 * ResNet-18 in four stages of equal arithmetic, trained by each update rule from the same first
 * parameters on the same samples in the same order.
 */
public final class Convergence implements Reproduction {
  private static final String NETWORK = "resnet-18:size=16,classes=30,width=16";
  private static final String DATA = "synthetic:images,samples=4000,classes=30";
  private static final int SEEDS = 5;
  private static final int BATCH = 32;
  private static final int MICRO_BATCHES = 4; // and stages
  private static final int STEPS = 500; // of such a batch
  private static final int EVALUATIONS = 5;

  /**
   * An update rule.
   *
   * @param small whether it updates behind each micro-batch
   */
  private record Rule(String name, boolean small, String flags) {
    private List<String> command(int seed) {
      int parts = small ? MICRO_BATCHES : 1;
      List<String> command = new ArrayList<>(List.of("./pipewright", "train", NETWORK));
      command.addAll(List.of("--data", DATA, "--seed", "" + seed, "--json"));
      command.addAll(List.of("--global-batch", "" + BATCH / parts, "--steps", "" + STEPS * parts));
      command.addAll(List.of("--evaluate-every", "" + STEPS * parts / EVALUATIONS));
      command.addAll(List.of("--learning-rate", small ? "0.005" : "0.02"));
      command.addAll(List.of("--momentum", "0.9", "--weight-decay", "0.0005"));
      command.addAll(List.of("--workers", "threads"));
      command.addAll(List.of(flags.split(" ")));
      return command;
    }
  }

  private static final List<Rule> RULES =
      List.of(
          new Rule("data parallel", false, "--stages 1 --micro-batches 4"),
          new Rule("cyclic v1", false, "--stages 4 --schedule cyclic-v1-single"),
          new Rule("cyclic v2", false, "--stages 4 --schedule cyclic-v2-single"),
          new Rule("PipeDream-2BW", false, "--stages 4 --schedule pipedream-2bw"),
          new Rule("step by step", true, "--stages 1"),
          new Rule("PipeDream", true, "--stages 4 --schedule pipedream"),
          new Rule(
              "PipeDream, vertical sync", true, "--stages 4 --schedule pipedream --vertical-sync"));

  /** Of all seeds, by evaluation. */
  private record Learnt(double[][] accuracy, double[][] loss) {
    private static Learnt of(Rule rule) {
      Learnt learnt = new Learnt(new double[SEEDS][EVALUATIONS], new double[SEEDS][EVALUATIONS]);
      IntStream.range(0, SEEDS).parallel().forEach(seed -> learnt.learn(rule, seed));
      return learnt;
    }

    private void learn(Rule rule, int seed) {
      JsonNode heldOut = Answers.of(rule.command(seed + 1)).get("held_out");
      for (int i = 0; i < EVALUATIONS; i++) {
        accuracy[seed][i] = heldOut.get(i).get("accuracy").asDouble();
        loss[seed][i] = heldOut.get(i).get("loss").asDouble();
      }
    }

    private static double mean(double[][] values, int evaluation) {
      return IntStream.range(0, SEEDS).mapToDouble(s -> values[s][evaluation]).average().orElse(0);
    }

    private static double deviation(double[][] values, int evaluation) {
      double mean = mean(values, evaluation);
      double squares =
          IntStream.range(0, SEEDS)
              .mapToDouble(seed -> Math.pow(values[seed][evaluation] - mean, 2))
              .sum();
      return Math.sqrt(squares / (SEEDS - 1));
    }
  }

  @Override
  public String name() {
    return "convergence";
  }

  @Override
  public String summary() {
    return "What is learnt with older parameters.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown("rule", "updates", "batch", "accuracy", "±", "loss", "±", "of the seeds");
    Lines accuracies =
        new Lines("Held-out accuracy", Axis.fromZero("samples"), Axis.fromZero("%"), 320);
    Lines losses =
        new Lines("Held-out loss", Axis.fromZero("samples"), Axis.logarithmic("loss"), 320);
    for (Rule rule : RULES) {
      Learnt learnt = Learnt.of(rule);
      row(table, rule, learnt);
      System.err.println(rule.name() + ": " + each(learnt));
      accuracies.add(rule.name(), samples(), means(learnt.accuracy(), 100));
      losses.add(rule.name(), samples(), means(learnt.loss(), 1));
    }
    return new Report("What is learnt with older parameters")
        .paragraph(
            ("`Reproduce convergence`: `%s`, `%s`, momentum 0.9, weight decay 0.0005, each rule from"
                    + " the same first parameters on the same samples; held-out samples behind %d"
                    + " samples, mean and standard deviation over %d seeds. The first four rules"
                    + " update behind %d samples in %d micro-batches with rate 0.02, the others"
                    + " behind each micro-batch of %d with rate 0.005.")
                .formatted(
                    NETWORK,
                    DATA,
                    BATCH * STEPS,
                    SEEDS,
                    BATCH,
                    MICRO_BATCHES,
                    BATCH / MICRO_BATCHES))
        .table(table)
        .figure(
            new Figure("What is learnt with older parameters", 1060, 2)
                .add(accuracies)
                .add(losses));
  }

  private static double[] samples() {
    return IntStream.rangeClosed(1, EVALUATIONS)
        .mapToDouble(i -> (double) BATCH * STEPS * i / EVALUATIONS)
        .toArray();
  }

  private static double[] means(double[][] values, double factor) {
    return IntStream.range(0, EVALUATIONS)
        .mapToDouble(i -> factor * Learnt.mean(values, i))
        .toArray();
  }

  private static void row(Markdown table, Rule rule, Learnt learnt) {
    int last = EVALUATIONS - 1;
    int parts = rule.small() ? MICRO_BATCHES : 1;
    table.row(
        rule.name(),
        STEPS * parts,
        BATCH / parts,
        Numbers.percent(Learnt.mean(learnt.accuracy(), last)),
        Numbers.fixed(100 * Learnt.deviation(learnt.accuracy(), last), 1),
        Numbers.fixed(Learnt.mean(learnt.loss(), last), 3),
        Numbers.fixed(Learnt.deviation(learnt.loss(), last), 3),
        each(learnt));
  }

  /** The accuracy that each seed ends with, in percent. */
  private static String each(Learnt learnt) {
    return Arrays.stream(learnt.accuracy())
        .map(seed -> Numbers.fixed(100 * seed[EVALUATIONS - 1], 1))
        .collect(Collectors.joining(", "));
  }
}
