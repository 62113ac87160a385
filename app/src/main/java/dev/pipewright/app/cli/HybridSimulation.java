package dev.pipewright.app.cli;

import dev.pipewright.app.report.HybridText;
import dev.pipewright.app.report.MemoryText;
import dev.pipewright.app.report.PerfettoTrace;
import dev.pipewright.app.report.Runs;
import dev.pipewright.app.report.TimelineText;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.JsonText;
import dev.pipewright.formats.OutputFolder;
import dev.pipewright.planner.memory.HybridPlan;
import dev.pipewright.planner.memory.HybridPlan.Stage;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.memory.PlanMemory;
import dev.pipewright.trace.Timeline;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A simulated step of a plan whose stages may divide tensors. */
record HybridSimulation(GivenHybrid given, HybridPlan priced, List<StageCost> costs, Run run)
    implements SimulatedPlan {
  static final String TRACE = "trace.json";

  private Timeline timeline() {
    return Recorder.timeline(given.plan(), costs, run, PlanMemory.of(costs, run));
  }

  private String title() {
    return given.costed().model() + " on " + given.costed().workload().cluster().name();
  }

  @Override
  public String text() {
    boolean colours = Terminal.colours();
    return HybridText.of(
            title(),
            priced,
            run.makespan(),
            given.file().stepSeconds(),
            Terminal.columns(),
            colours)
        + "\n"
        + TimelineText.of(Runs.of(title(), timeline()), Terminal.columns(), colours)
        + "\n"
        + MemoryText.of(PlanMemory.of(costs, run), Terminal.columns(), colours);
  }

  @Override
  public String json() {
    Map<String, Object> object =
        SimulationJson.head(
            given.costed(),
            given.plan().policy().schedule(),
            "step_s",
            run.makespan(),
            given.file().stepSeconds());
    object.put("estimate_s", priced.stepSeconds());
    Map<String, Object> simulated = new LinkedHashMap<>();
    simulated.put("step_s", run.makespan());
    simulated.put("idle_share", timeline().idleShare());
    simulated.put("peak_bytes", peaks());
    object.put("simulated", simulated);
    return JsonText.of(object);
  }

  /** Of each device of the cluster. */
  private List<Long> peaks() {
    Long[] peaks = new Long[given.costed().workload().cluster().size()];
    Arrays.fill(peaks, 0L);
    List<Timeline.Memory> memory = timeline().memory();
    for (int stage = 0; stage < costs.size(); stage++) {
      for (int device : priced.stages().get(stage).devices()) {
        peaks[device] = Math.round(memory.get(stage).peak());
      }
    }
    return List.of(peaks);
  }

  @Override
  public Optional<TrainingFigures> figures() {
    return Optional.of(MemoryAnswer.figures(given.costed().workload(), priced, run.makespan()));
  }

  @Override
  public Optional<String> doesNotFit() {
    List<Stage> stages = priced.stages();
    for (int stage = 0; stage < stages.size(); stage++) {
      if (!stages.get(stage).cost().memory().fits()) {
        return Optional.of(GivenHybrid.tooLarge(stage, stages.get(stage)));
      }
    }
    return Optional.empty();
  }

  @Override
  public void write(OutputFolder folder) {
    folder.write(TRACE, out -> PerfettoTrace.write(title(), timeline(), out));
  }
}
