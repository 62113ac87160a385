package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.app.cli.plan.PlanProblems;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Misfit;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.memory.McapTable;
import dev.pipewright.formats.schedule.FileProblem;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.memory.LayerPeaks;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A plan by measured peaks of layers, which know memory and no times. */
public record GivenPeaks(
    Path path, PlanFile<PipelinePlan> file, String table, LayerPeaks peaks, Cluster cluster)
    implements GivenFile {
  static GivenPeaks of(PlanArgument argument, PlanFile<PipelinePlan> file) {
    argument.refuseCostModel("goes by measured peaks");
    MadeFor madeFor = file.madeFor();
    argument.arguments.fallBackTo(madeFor.training(), madeFor.memory());
    String table = argument.model(madeFor);
    return new GivenPeaks(
        argument.path,
        file,
        table,
        McapTable.read(FileNames.file("the model", table)),
        argument.arguments.cluster(argument.cluster(madeFor)));
  }

  @Override
  public Map<String, Object> counted() {
    return Counted.of(file.plan().schedule());
  }

  @Override
  public List<FileProblem> problems() {
    PipelinePlan plan = file.plan();
    List<FileProblem> problems = PlanProblems.ofSchedule(path, plan.schedule());
    if (plan.layers() != peaks.layers()) {
      problems.add(
          FileProblem.ofStage(
              path,
              plan.stages().size() - 1,
              "misfit",
              "the last stage ends at %d but %s has layers 0..%d; end it there"
                  .formatted(plan.layers() - 1, table, peaks.layers() - 1)));
      return problems;
    }
    for (int s = 0; s < plan.stages().size(); s++) {
      StagePlan stage = plan.stages().get(s);
      if (stage.replicas() != 1 || stage.devices().get(0) >= cluster.size()) {
        String words =
            "stages[%d].devices is %s, but peaks are those of one of the devices 0..%d; name one"
                .formatted(s, stage.devices(), cluster.size() - 1);
        problems.add(FileProblem.ofStage(path, s, "misfit", words));
      } else if (bytes(s) > cluster.device(stage.devices().get(0)).memory().value()) {
        problems.add(FileProblem.ofStage(path, s, "memory", misfit(s).toString()));
      }
    }
    return problems;
  }

  private double bytes(int s) {
    StagePlan stage = file.plan().stages().get(s);
    return peaks.bytes(s, stage.firstLayer(), stage.lastLayer() + 1);
  }

  private Misfit misfit(int s) {
    int device = file.plan().stages().get(s).devices().get(0);
    return Misfit.measured(s, bytes(s), device, cluster.device(device).memory());
  }

  private BadInputException noTimes() {
    return new BadInputException(
        "%s: goes by the measured peaks of %s, which say nothing of times; check it, or give the network with --model"
            .formatted(path, table));
  }

  @Override
  public List<String> files() {
    throw noTimes();
  }

  @Override
  public SimulationResult simulate(SimulationOptions options) {
    throw noTimes();
  }
}
