package dev.pipewright.bench.planners;

import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.zoo.Clusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What plans would gain if each rank of an equal pipeline divided its layers in its own way: the
 * best plans of the default planner, changed rank by rank for as long as the simulated step gets
 * shorter.
 */
public final class DegreesByRank implements Reproduction {
  private static final int MOST_PLANS = 8;
  private static final double LEAST_GAIN = 1 - 1e-6;

  /**
   * A network to train.
   *
   * @param other a cluster whose devices the second half has; empty where all are alike
   */
  private record Instance(String network, String cluster, String other, int globalBatch) {
    Problem problem() {
      Cluster alike = Clusters.find(cluster).orElseThrow();
      if (other.isEmpty()) {
        return Problem.of(network, alike, globalBatch);
      }
      DeviceKind second = Clusters.find(other).orElseThrow().device(0);
      List<DeviceKind> devices = new ArrayList<>();
      for (int device = 0; device < alike.size(); device++) {
        devices.add(device < alike.size() / 2 ? alike.device(0) : second);
      }
      return Problem.of(
          network, new Cluster("both", devices, alike.levels(), alike.groups()), globalBatch);
    }
  }

  private static final List<Instance> INSTANCES =
      List.of(
          new Instance("bert-48", "dapple-a:2x8", "", 64),
          new Instance("gpt-2-xl", "dapple-a:4x8", "", 128),
          new Instance("llama3-8b", "dgx-h100:2x8", "", 128),
          new Instance("mixtral-8x7b", "dgx-h100:4x8", "", 256),
          new Instance("llama3-70b", "dgx-h100:8x8", "", 256),
          new Instance("gpt-2-xl", "selene:2x8", "dapple-a", 64),
          new Instance("llama3-8b", "dgx-h100:2x8", "selene", 128),
          new Instance("llama3-70b", "dgx-h100:8x8", "selene", 256));

  @Override
  public String name() {
    return "degrees-by-rank";
  }

  @Override
  public String summary() {
    return "What plans would gain if each rank divided layers in its own way.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown("network", "cluster", "samples", "found, s", "by rank, s", "shorter by");
    for (Instance each : INSTANCES) {
      Problem problem = each.problem();
      Planned planned = Planners.plan(problem);
      double found =
          Planners.decider(planned.costed().costs()).assess(planned.plan()).stepSeconds();
      double byRank = Math.min(found, best(planned));
      table.row(
          each.network(),
          each.other().isEmpty() ? each.cluster() : each.cluster() + ", half " + each.other(),
          each.globalBatch(),
          Numbers.seconds(found),
          Numbers.seconds(byRank),
          Numbers.fixed(100 * (1 - byRank / found), 3) + " %");
    }
    return new Report("Degrees of its own for each rank")
        .paragraph(
            "The default planner's equal pipelines divide layers alike on all ranks. Here the best"
                + " "
                + MOST_PLANS
                + " plans of each problem are changed: each rank in turn takes any other kind and"
                + " degree that its layers, devices and samples allow, for as long as the simulated"
                + " step gets shorter and everything fits.")
        .table(table);
  }

  private static double best(Planned planned) {
    Oracle oracle = Planners.decider(planned.costed().costs());
    ParallelismLimits limits =
        new ParallelismLimits(planned.costed().costs().workload().chain().graph());
    return planned.planning().candidates().stream()
        .limit(MOST_PLANS)
        .filter(each -> each.plan().placement().chains() == 1)
        .mapToDouble(each -> descended(each, limits, oracle))
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  private static double descended(Candidate candidate, ParallelismLimits limits, Oracle oracle) {
    PipelinePlan plan = candidate.plan();
    double seconds = oracle.assess(plan).stepSeconds();
    boolean better = true;
    while (better) {
      better = false;
      for (int rank = 0; rank < plan.placement().ranks(); rank++) {
        for (Parallelism parallelism : kinds(plan.devicesByRank().get(rank).size(), limits)) {
          Optional<PipelinePlan> changed = changed(plan, rank, parallelism);
          if (changed.isPresent()) {
            Assessment assessment = oracle.assess(changed.get());
            if (assessment.fits() && assessment.stepSeconds() < seconds * LEAST_GAIN) {
              plan = changed.get();
              seconds = assessment.stepSeconds();
              better = true;
            }
          }
        }
      }
    }
    return seconds;
  }

  private static List<Parallelism> kinds(int devices, ParallelismLimits limits) {
    List<Parallelism> kinds = new ArrayList<>(List.of(Parallelism.NONE));
    for (int parts = 2; parts <= devices; parts *= 2) {
      for (Kind kind : Kind.values()) {
        if (kind != Kind.NONE && limits.refusal(Parallelism.of(kind, parts)).isEmpty()) {
          kinds.add(Parallelism.of(kind, parts));
        }
      }
    }
    return kinds;
  }

  /** The plan in which a rank divides its layers so; empty where devices or samples do not do. */
  private static Optional<PipelinePlan> changed(
      PipelinePlan plan, int rank, Parallelism parallelism) {
    List<StagePlan> stages = new ArrayList<>();
    for (int stage = 0; stage < plan.stages().size(); stage++) {
      StagePlan each = plan.stages().get(stage);
      if (plan.placement().rankOf(stage) == rank) {
        int replicas = each.devices().size() / parallelism.parts();
        if (replicas * parallelism.parts() != each.devices().size()
            || replicas > plan.microBatching()
            || replicas % plan.replicas() != 0) {
          return Optional.empty();
        }
        each = each.with(parallelism);
      }
      stages.add(each);
    }
    return Optional.of(plan.with(stages));
  }
}
