package dev.pipewright.app.cli;

import dev.pipewright.cost.AsynchronousCosts;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.formats.FileProblem;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.sim.steady.SteadyState;
import dev.pipewright.units.Units;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Whether a plan that never flushes can run: its schedule, its model and cluster, memory. */
final class AsynchronousCheck {
  private final Path path;
  private final AsynchronousArgument loaded;
  private final List<FileProblem> problems = new ArrayList<>();

  private AsynchronousCheck(Path path, AsynchronousArgument loaded) {
    this.path = path;
    this.loaded = loaded;
  }

  /** The order of work that is looked at. */
  static Schedule schedule(AsynchronousArgument loaded) {
    AsynchronousPlan plan = loaded.file().plan();
    return plan.schedule(SteadyState.rounds(plan));
  }

  static List<FileProblem> problems(Path path, AsynchronousArgument loaded, Schedule schedule) {
    AsynchronousCheck check = new AsynchronousCheck(path, loaded);
    check.schedule(schedule);
    check.stages();
    return check.problems;
  }

  private void schedule(Schedule schedule) {
    for (Validator.Problem problem : Validator.check(schedule)) {
      int stage = problem.at().op().stage();
      problems.add(FileProblem.ofStage(path, stage, "schedule", problem.toString()));
    }
  }

  private void stages() {
    AsynchronousPlan plan = loaded.file().plan();
    List<String> misfits = PlanFit.problems(plan.stages(), loaded.costed());
    misfits.forEach(words -> problems.add(CheckCommand.misfit(path, words)));
    if (misfits.isEmpty()) {
      List<StageMemory> memory = new AsynchronousCosts(loaded.costed().costs(), plan).memory();
      for (int stage = 0; stage < memory.size(); stage++) {
        if (!memory.get(stage).fits()) {
          String words = tooLarge(plan, stage, memory.get(stage));
          problems.add(FileProblem.ofStage(path, stage, "memory", words));
        }
      }
    }
  }

  /** What a stage needs, and what would help. */
  static String tooLarge(AsynchronousPlan plan, int stage, StageMemory memory) {
    return "stage %d needs %s on %s of %s, for %d versions of its weights and %d micro-batches in flight; take fewer layers in it, smaller micro-batches, or pipedream-2bw"
        .formatted(
            stage,
            Units.binary(memory.peakBytes(), "B"),
            CheckCommand.devices(plan.stages().get(stage).devices()),
            memory.capacity(),
            plan.versions(stage),
            memory.inFlight());
  }
}
