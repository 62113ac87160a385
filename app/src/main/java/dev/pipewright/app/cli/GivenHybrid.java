package dev.pipewright.app.cli;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.StageCost;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.FileProblem;
import dev.pipewright.formats.HybridFile;
import dev.pipewright.formats.PlanFigures;
import dev.pipewright.plan.Plan;
import dev.pipewright.planner.memory.HybridPlan;
import dev.pipewright.planner.memory.HybridPlan.Stage;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.PlanWires;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.SimulatedOracle;
import dev.pipewright.units.Units;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A plan of synchronous training whose stages may divide tensors.
 *
 * @param elsewhere whether it is looked at for something else than its file says
 */
record GivenHybrid(Path path, HybridFile file, ModelArgument.Costed costed, boolean elsewhere)
    implements GivenPlan {
  static GivenHybrid of(PlanArgument argument, HybridFile file) {
    argument.refuseCostModel("divides tensors, which only one prices");
    boolean elsewhere = argument.elsewhere();
    Plan plan = file.shape().plan();
    Limits.passes(argument.path.toString(), plan);
    ModelArgument.Costed costed = argument.costed(file.madeFor(), plan.globalBatch());
    return new GivenHybrid(argument.path, file, costed, elsewhere);
  }

  Plan plan() {
    return file.shape().plan();
  }

  /** Priced as CAPTURE does; throws where a stage is none of the network. */
  HybridPlan priced() {
    return file.shape().priced(costed.costs());
  }

  @Override
  public Map<String, Object> counted() {
    return Counted.of(plan().schedule());
  }

  @Override
  public List<FileProblem> problems() {
    List<FileProblem> problems = PlanProblems.ofSchedule(path, plan().schedule());
    List<FileProblem> misfits = PlanProblems.misfits(path, plan().stages(), costed);
    problems.addAll(misfits);
    if (misfits.isEmpty()) {
      try {
        HybridPlan priced = priced();
        problems.addAll(memory(priced));
        problems.addAll(elsewhere ? List.of() : figures(priced));
      } catch (IllegalArgumentException e) {
        problems.add(FileProblem.of(path, "misfit", String.valueOf(e.getMessage())));
      }
    }
    return problems;
  }

  private List<FileProblem> memory(HybridPlan priced) {
    List<FileProblem> problems = new ArrayList<>();
    for (int stage = 0; stage < priced.stages().size(); stage++) {
      if (!priced.stages().get(stage).cost().memory().fits()) {
        String words = tooLarge(stage, priced.stages().get(stage));
        problems.add(FileProblem.ofStage(path, stage, "memory", words));
      }
    }
    return problems;
  }

  /** What a stage needs, and what would help. */
  static String tooLarge(int stage, Stage of) {
    return "stage %d needs %s on %s of %s, its samples shared by %d and its tensors by %d; divide it further, or take more stages or smaller micro-batches"
        .formatted(
            stage,
            Units.binary(of.cost().memory().peakBytes(), "B"),
            PlanProblems.devices(of.devices()),
            of.cost().memory().capacity(),
            of.degrees().data(),
            of.degrees().tensor());
  }

  private List<FileProblem> figures(HybridPlan priced) {
    PlanFigures figures = file.figures();
    for (int stage = 0; stage < priced.stages().size(); stage++) {
      String place = "stages[" + stage + "].";
      StageCost cost = priced.stages().get(stage).cost();
      figures.compare(place + "forward_s", cost.forwardSeconds());
      figures.compare(place + "backward_s", cost.backwardSeconds());
      figures.compare(place + "send_s", cost.sendSeconds());
      figures.compare(place + "return_s", cost.returnSeconds());
      figures.compare(place + "allreduce_s", cost.allReduceSeconds());
      figures.compare(place + "exposed_allreduce_s", cost.exposedAllReduceSeconds());
      figures.compare(place + "update_s", cost.updateSeconds());
      figures.compareRounded(place + "memory_bytes", cost.memory().peakBytes());
    }
    figures.compare("objective.value", priced.peakBytes());
    return figures.problems();
  }

  @Override
  public List<String> files() {
    return List.of(HybridSimulation.TRACE);
  }

  @Override
  public SimulatedPlan simulate(SimulationOptions options) {
    options.refuseJitter("plans that divide no tensors", path);
    PlanProblems.refuseMisfits(path, plan().stages(), costed);
    try {
      HybridPlan priced = priced();
      List<StageCost> costs = priced.stages().stream().map(Stage::cost).toList();
      Assessment assessment = new Assessment("pipewright", priced.stepSeconds(), costs);
      SimulatedOracle oracle =
          new SimulatedOracle(
              plan -> assessment,
              options.conditions(
                  Transfers.QUEUED, PlanWires.of(plan(), costed.workload().cluster())),
              options.slowness(costs.size()));
      Run run = oracle.simulate(plan(), assessment);
      return new HybridSimulation(this, priced, costs, run);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(PlanProblems.refusal(path, plan().schedule(), e));
    }
  }
}
