package dev.pipewright.bench.dapple;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Dots;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.RecordedRun;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;

/** How far the formulas are from the simulator on the plans that planners really look at. */
public final class EstimateAccuracy implements Reproduction {
  private static final int MOST_PLANS = 60; // of one planning
  private static final int LARGE = 1000; // positions of a chain
  private static final List<CostModel> MODELS =
      List.of(CostModel.DAPPLE_PUBLISHED, CostModel.DAPPLE, CostModel.PIPEWRIGHT);
  private static final List<String> CLUSTERS = List.of("dapple-a", "dapple-b", "dapple-c");

  private record Network(String profile, int globalBatch) {}

  private static final List<Network> NETWORKS =
      List.of(
          new Network(Table5.VGG, 2048),
          new Network(Table5.GNMT, 1024),
          new Network("gnmt-32-pbs-64-simplified", 1024),
          new Network(Table5.BERT, 64),
          new Network(Table5.XLNET, 128),
          new Network(Table5.AMOEBA, 128));

  /** Relative differences to the simulated step, by model. */
  private static final class Errors {
    private final double[] sum = new double[MODELS.size()];
    private final double[] signed = new double[MODELS.size()];
    private final double[] most = new double[MODELS.size()];
    private int plans;

    /** The same for a part of the plans. */
    static Errors of(StageCosts costs, Set<PipelinePlan> all, Predicate<PipelinePlan> part) {
      Set<PipelinePlan> some = new LinkedHashSet<>(all);
      some.removeIf(part.negate());
      Errors errors = new Errors();
      errors.add(costs, some);
      return errors;
    }

    void add(StageCosts costs, Set<PipelinePlan> all) {
      Oracle simulator = Networks.simulator(costs);
      List<Oracle> formulas = MODELS.stream().map(model -> model.oracle(costs)).toList();
      for (PipelinePlan plan : all) {
        double truth = simulator.assess(plan).stepSeconds();
        for (int m = 0; m < sum.length; m++) {
          double error = formulas.get(m).assess(plan).stepSeconds() / truth - 1;
          sum[m] += Math.abs(error);
          signed[m] += error;
          most[m] = Math.max(most[m], Math.abs(error));
        }
        plans++;
      }
    }

    void add(Errors that) {
      for (int m = 0; m < sum.length; m++) {
        sum[m] += that.sum[m];
        signed[m] += that.signed[m];
        most[m] = Math.max(most[m], that.most[m]);
      }
      plans += that.plans;
    }

    String mean(int model) {
      return Numbers.fixed(100 * sum[model] / plans, 2);
    }

    String most(int model) {
      return Numbers.fixed(100 * most[model], 1);
    }
  }

  @Override
  public String name() {
    return "estimate-accuracy";
  }

  @Override
  public String summary() {
    return "Estimates of steps against the simulator.";
  }

  @Override
  public List<String> needs() {
    return List.of("dapple");
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "profile",
            "plans",
            "published",
            "corrected",
            "path",
            "published, most",
            "corrected, most",
            "path, most");
    List<String> names = new ArrayList<>();
    double[][] means = new double[MODELS.size()][NETWORKS.size()];
    Errors total = new Errors();
    Map<String, Errors> parts = new LinkedHashMap<>();
    for (int i = 0; i < NETWORKS.size(); i++) {
      Errors errors = errors(reference, NETWORKS.get(i), parts);
      names.add(NETWORKS.get(i).profile());
      for (int m = 0; m < MODELS.size(); m++) {
        means[m][i] = 100 * errors.sum[m] / errors.plans;
      }
      row(table, NETWORKS.get(i).profile(), errors);
      total.add(errors);
    }
    row(table, "all", total);
    parts.forEach((name, errors) -> row(table, name, errors));
    Dots dots =
        new Dots("Mean absolute difference to the simulated step", Axis.fromZero("%"), names)
            .add("DAPPLE's formula as published", means[0])
            .add("DAPPLE's formula, corrected", means[1])
            .add("our path formula", means[2])
            .limit(5, "5 %");
    return new Report("Accuracy of the estimates")
        .paragraph(
            ("Absolute difference of the estimated step time to the simulated one, per cent: mean and most."
                    + " Plans: up to %d of each planning's best candidates and rivals (any shape, straight,"
                    + " data parallel; micro-batches open, and of 1, 2 and 4 profile batches; for the large gnmt-16 of 1 only) on configs A,"
                    + " B and C, and the recorded plans of the authors' planner. Mean signed difference over"
                    + " all plans: published %s, corrected %s, path %s.")
                .formatted(
                    MOST_PLANS,
                    Numbers.percent(total.signed[0] / total.plans),
                    Numbers.percent(total.signed[1] / total.plans),
                    Numbers.percent(total.signed[2] / total.plans)))
        .table(table)
        .figure(new Figure("Estimated against simulated step time", 760, 1).add(dots));
  }

  private static void row(Markdown table, String name, Errors errors) {
    table.row(
        name,
        errors.plans,
        errors.mean(0),
        errors.mean(1),
        errors.mean(2),
        errors.most(0),
        errors.most(1),
        errors.most(2));
  }

  private static Errors errors(Reference reference, Network network, Map<String, Errors> parts) {
    Errors errors = new Errors();
    for (String cluster : CLUSTERS) {
      StageCosts costs = Networks.measured(reference, network.profile(), Networks.cluster(cluster));
      Set<PipelinePlan> plans = new LinkedHashSet<>();
      Set<PipelinePlan> best = new LinkedHashSet<>();
      int batch = Reference.batch(network.profile());
      boolean large = costs.size() > LARGE; // one planning of it takes as long as all of another
      int[] microBatches = large ? new int[] {batch} : new int[] {0, batch, 2 * batch, 4 * batch};
      for (int microBatch : microBatches) {
        for (Shape shape : Shape.values()) {
          addPlans(plans, best, costs, network.globalBatch(), microBatch, shape);
        }
      }
      for (RecordedRun run : reference.runs()) {
        if (run.profile().equals(network.profile()) && run.cluster().equals(cluster)) {
          plans.add(run.plan());
        }
      }
      errors.add(costs, plans);
      add(parts, "all, " + cluster, costs, plans, plan -> true);
      add(parts, "policy A, stages", costs, plans, plan -> staged(plan, PipelinePolicy.A));
      add(parts, "policy B, stages", costs, plans, plan -> staged(plan, PipelinePolicy.B));
      add(parts, "one stage", costs, plans, plan -> plan.stages().size() == 1);
      add(parts, "best of each planning", costs, plans, best::contains);
    }
    return errors;
  }

  private static void add(
      Map<String, Errors> parts,
      String name,
      StageCosts costs,
      Set<PipelinePlan> plans,
      Predicate<PipelinePlan> part) {
    Errors errors = parts.computeIfAbsent(name, key -> new Errors());
    errors.add(Errors.of(costs, plans, part));
  }

  private static boolean staged(PipelinePlan plan, PipelinePolicy policy) {
    return plan.stages().size() > 1 && plan.spec() == policy;
  }

  private static void addPlans(
      Set<PipelinePlan> plans,
      Set<PipelinePlan> best,
      StageCosts costs,
      int globalBatch,
      int microBatch,
      Shape shape) {
    for (CostModel model : List.of(CostModel.PIPEWRIGHT, CostModel.DAPPLE)) {
      Request request =
          new Request(
              globalBatch,
              microBatch == 0 ? OptionalInt.empty() : OptionalInt.of(microBatch),
              Table5.POLICIES,
              Recomputation.WHERE_NEEDED,
              model,
              shape);
      Planning planning = Networks.plan(costs, request);
      planning.best().ifPresent(one -> best.add(one.plan()));
      planning.candidates().stream().limit(MOST_PLANS).map(Candidate::plan).forEach(plans::add);
    }
  }
}
