package dev.pipewright.bench.planners;

import dev.pipewright.api.Nearby;
import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.ClusterVariants;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning.Candidate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * How long the search near a known plan takes for each move of a slider, and how far its plans are
 * from those of a whole search.
 */
public final class WhatIfMoves implements Reproduction {
  private static final int TIMES = 5; // each move, of which the first warms up
  private static final double BAR = 0.150; // seconds
  private static final double PERCENTILE = 0.95;

  private record Study(String network, String cluster, int globalBatch) {
    Problem problem() {
      return Problem.of(network, cluster, globalBatch);
    }

    @Override
    public String toString() {
      return "%s on %s, %d".formatted(network, cluster, globalBatch);
    }
  }

  private static final List<Study> STUDIES =
      List.of(
          new Study("llama3-8b", "h100:8x8", 512),
          new Study("llama3-70b", "h100:8x8", 1024),
          new Study("gpt3-175b", "h100:8x8", 512),
          new Study("gpt-2-xl", "h100:8x8", 512),
          new Study("bert-48", "dapple-a:8x8", 256),
          new Study("gnmt-16", "dapple-b:64", 4096),
          new Study("vgg-19", "dapple-c:64", 2048));

  /** A question that differs in one respect. */
  private record Move(Problem problem, Nearby nearby) {}

  private record Row(String study, String move, double near, double whole, double[] seconds) {
    double worse() {
      return near / whole - 1;
    }
  }

  @Override
  public String name() {
    return "what-if";
  }

  @Override
  public String summary() {
    return "Plans near a known one for each move of a slider, against whole searches.";
  }

  @Override
  public List<String> needs() {
    return List.of();
  }

  @Override
  public Report run(Reference reference) {
    List<Row> rows = new ArrayList<>();
    for (Study study : STUDIES) {
      Problem problem = study.problem();
      PipelinePlan plan = Planners.plan(problem).plan();
      moves(problem, plan).forEach((name, move) -> rows.add(row(study.toString(), name, move)));
    }
    double[] seconds =
        rows.stream().flatMapToDouble(row -> Arrays.stream(row.seconds())).sorted().toArray();
    double[] worse =
        rows.stream()
            .mapToDouble(Row::worse)
            .filter(Double::isFinite)
            .map(each -> Math.max(0, each))
            .sorted()
            .toArray();
    double p95 = seconds[(int) Math.ceil(PERCENTILE * seconds.length) - 1];
    Report report =
        new Report("What if")
            .paragraph(
                ("The plan of a study is searched again near the study's own where one slider of the"
                        + " page *What if* has been moved, on 64 devices. A search ends after %d ms;"
                        + " then the best plan is simulated. Each move is made %d times in one process.")
                    .formatted(Nearby.PATIENCE.toMillis(), TIMES - 1))
            .paragraph(
                "A move takes %s ms (median), %s ms (95th percentile; the bar is %s ms) and %s ms (worst). Steps are %s longer than those of whole searches in the median, %s in 9 of 10 moves at most, and %s at worst. –: nothing fits."
                    .formatted(
                        milliseconds(PlannersSideBySide.median(seconds)),
                        milliseconds(p95),
                        milliseconds(BAR),
                        milliseconds(seconds[seconds.length - 1]),
                        Numbers.percent(PlannersSideBySide.median(worse)),
                        Numbers.percent(worse[(int) Math.ceil(0.9 * worse.length) - 1]),
                        Numbers.percent(worse[worse.length - 1])));
    Markdown table =
        new Markdown("study", "move", "step, s", "whole search, s", "longer", "time, ms");
    for (Row row : rows) {
      table.row(
          row.study(),
          row.move(),
          Numbers.seconds(row.near()),
          Numbers.seconds(row.whole()),
          Double.isFinite(row.worse()) ? Numbers.percent(row.worse()) : "–",
          milliseconds(PlannersSideBySide.median(row.seconds())));
    }
    return report.table(table);
  }

  private static String milliseconds(double seconds) {
    return Long.toString(Math.round(1e3 * seconds));
  }

  private static Map<String, Move> moves(Problem problem, PipelinePlan plan) {
    Cluster cluster = problem.cluster();
    Map<String, Cluster> clusters = new LinkedHashMap<>();
    clusters.put("nothing", cluster);
    clusters.put("half the devices", ClusterVariants.sized(cluster, cluster.size() / 2));
    clusters.put("twice the devices", ClusterVariants.sized(cluster, 2 * cluster.size()));
    clusters.put("half the memory", ClusterVariants.withMemoryTimes(cluster, 0.5));
    clusters.put("3/4 of the memory", ClusterVariants.withMemoryTimes(cluster, 0.75));
    clusters.put("twice the memory", ClusterVariants.withMemoryTimes(cluster, 2));
    clusters.put("1/4 of the bandwidth", ClusterVariants.withBandwidthTimes(cluster, 0.25));
    clusters.put("4 times the bandwidth", ClusterVariants.withBandwidthTimes(cluster, 4));
    clusters.put("10 times the latency", ClusterVariants.withLatencyTimes(cluster, 10));
    Map<String, Move> moves = new LinkedHashMap<>();
    Nearby near = new Nearby(List.of(plan), OptionalInt.empty(), 1);
    clusters.forEach((name, on) -> moves.put(name, new Move(problem.on(on), near)));
    return moves;
  }

  private static Row row(String study, String name, Move move) {
    double[] seconds = new double[TIMES - 1];
    double near = Double.NaN;
    for (int time = 0; time < TIMES; time++) {
      long start = System.nanoTime();
      Planned found =
          Planners.planNear(
              move.problem(),
              move.nearby(),
              () -> System.nanoTime() - start > Nearby.PATIENCE.toNanos());
      if (time > 0) {
        seconds[time - 1] = (System.nanoTime() - start) / 1e9;
      }
      near = seconds(found);
    }
    return new Row(study, name, near, seconds(Planners.plan(move.problem())), seconds);
  }

  private static double seconds(Planned planned) {
    return planned.planning().best().map(Candidate::seconds).orElse(Double.NaN);
  }
}
