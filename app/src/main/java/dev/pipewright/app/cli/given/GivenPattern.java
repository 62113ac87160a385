package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.app.cli.plan.PlanPictures;
import dev.pipewright.app.cli.plan.PlanProblems;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Misfit;
import dev.pipewright.formats.PlanFigures;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.schedule.FileProblem;
import dev.pipewright.plan.PatternPlan;
import dev.pipewright.plan.PatternPlan.Stage;
import dev.pipewright.planner.madpipe.PeriodicProblem;
import dev.pipewright.planner.madpipe.PlacedPattern;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.PatternCheck;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Units;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A pattern that repeats for ever, of stages of which a device may have several.
 *
 * @param elsewhere whether it is looked at for something else than its file says
 */
public record GivenPattern(Path path, PlanFile<PatternPlan> file, Costed costed, boolean elsewhere)
    implements GivenFile {
  private static final double ROUNDING = 1 + 1e-12; // sums of stages in another order

  static GivenPattern of(PlanArgument argument, PlanFile<PatternPlan> file) {
    argument.refuseCostModel("never flushes");
    boolean elsewhere = argument.elsewhere();
    return new GivenPattern(
        argument.path, file, argument.costed(file.madeFor(), file.plan().microBatch()), elsewhere);
  }

  Cluster cluster() {
    return costed.workload().cluster();
  }

  PeriodicProblem problem() {
    return PeriodicProblem.of(costed.costs(), file.plan().microBatch());
  }

  /** Throws {@link IllegalArgumentException} where it is none of the network's. */
  PlacedPattern priced() {
    return PlacedPattern.of(file.plan(), problem());
  }

  @Override
  public Map<String, Object> counted() {
    Map<String, Object> counted = new LinkedHashMap<>();
    counted.put("devices", file.plan().stages().stream().map(Stage::device).distinct().count());
    counted.put("stages", file.plan().stages().size());
    counted.put("batches", file.plan().batches());
    counted.put("ops", file.plan().ops().size());
    return counted;
  }

  @Override
  public List<FileProblem> problems() {
    List<FileProblem> problems = misfits();
    if (problems.isEmpty()) {
      PlacedPattern priced = priced();
      problems.addAll(ofPattern(priced.pattern()));
      contiguity(priced).ifPresent(problems::add);
      for (Misfit misfit : misfits(priced)) {
        problems.add(FileProblem.ofStage(path, misfit.stage(), "memory", misfit.toString()));
      }
      problems.addAll(elsewhere ? List.of() : figures(priced));
    }
    return problems;
  }

  private List<FileProblem> misfits() {
    List<FileProblem> problems = new ArrayList<>();
    List<Stage> stages = file.plan().stages();
    int layers = costed.costs().size();
    int devices = cluster().size();
    for (int s = 0; s < stages.size(); s++) {
      Stage stage = stages.get(s);
      boolean last = s == stages.size() - 1;
      if (stage.end() > layers || (last && stage.end() < layers)) {
        problems.add(
            misfit(
                s,
                "stages[%d].layers%s ends at %d but %s has layers 0..%d; end the last stage at %d"
                    .formatted(
                        s,
                        last ? ", the last," : "",
                        stage.end() - 1,
                        costed.model(),
                        layers - 1,
                        layers - 1)));
      }
      if (stage.device() >= devices) {
        problems.add(
            misfit(
                s,
                "stages[%d].devices names %d but %s has devices 0..%d; name one of those"
                    .formatted(s, stage.device(), cluster().name(), devices - 1)));
      }
    }
    if (problems.isEmpty()) {
      try {
        priced();
      } catch (IllegalArgumentException e) {
        problems.add(FileProblem.of(path, "misfit", String.valueOf(e.getMessage())));
      }
    }
    return problems;
  }

  private FileProblem misfit(int stage, String words) {
    return FileProblem.ofStage(path, stage, "misfit", words);
  }

  private List<FileProblem> ofPattern(Pattern pattern) {
    List<FileProblem> problems = new ArrayList<>();
    for (PatternCheck.Problem problem : PatternCheck.check(pattern)) {
      problems.add(
          switch (problem) {
            case PatternCheck.Problem.Early(var op, var awaited, var seconds) ->
                ofOp(
                    op,
                    "early",
                    "%s starts %s before %s has ended; start it later, or lengthen period_s"
                        .formatted(word(op), Units.seconds(seconds), word(awaited)));
            case PatternCheck.Problem.Overlap(var rank, var op, var next, var seconds) ->
                ofOp(
                    next,
                    "overlap",
                    "%s starts %s before %s has ended on the same %s; start it later, or lengthen period_s"
                        .formatted(
                            word(next),
                            Units.seconds(seconds),
                            word(op),
                            op.stage() % 2 == 0 ? "device" : "link"));
          });
    }
    return problems;
  }

  private FileProblem ofOp(RepeatedOp op, String what, String words) {
    return FileProblem.ofStage(path, op.stage() / 2, what, words);
  }

  /** As the file writes it: {@code F of stage 1 (shift 2)}. */
  private static String word(RepeatedOp op) {
    return "%s%s of stage %d (shift %d)"
        .formatted(op.stage() % 2 == 0 ? "" : "S", op.pass().letter(), op.stage() / 2, op.shift());
  }

  private Optional<FileProblem> contiguity(PlacedPattern priced) {
    return file.contiguous()
        .filter(said -> said != priced.contiguous())
        .map(said ->
            FileProblem.of(
                path,
                "contiguity",
                "contiguous is %s, but %s; say %s"
                    .formatted(
                        said,
                        said ? "a device has several stages" : "every device has one stage",
                        !said)));
  }

  private int stageOn(int device) {
    List<Stage> stages = file.plan().stages();
    for (int s = 0; s < stages.size(); s++) {
      if (stages.get(s).device() == device) {
        return s;
      }
    }
    return 0;
  }

  /** What devices cannot hold, in their order. */
  List<Misfit> misfits(PlacedPattern priced) {
    List<Misfit> misfits = new ArrayList<>();
    double[] bytes = problem().bytes(priced);
    for (int device = 0; device < bytes.length; device++) {
      Bytes capacity = cluster().device(device).memory();
      if (bytes[device] > capacity.value() * ROUNDING) {
        misfits.add(Misfit.ofDevice(device, stageOn(device), bytes[device], capacity));
      }
    }
    return misfits;
  }

  private List<FileProblem> figures(PlacedPattern priced) {
    PlanFigures figures = file.figures();
    int[] held = priced.held();
    List<StageLoad> loads = priced.pattern().stages();
    double working = problem().workingBytes();
    for (int s = 0; s < held.length; s++) {
      String place = "stages[" + s + "].";
      StageLoad load = loads.get(2 * s);
      figures.compare(place + "in_flight", held[s]);
      figures.compare(place + "forward_s", load.forwardSeconds());
      figures.compare(place + "backward_s", load.backwardSeconds());
      boolean last = s == held.length - 1;
      figures.compare(place + "send_s", last ? 0 : loads.get(2 * s + 1).forwardSeconds());
      figures.compareRounded(
          place + "memory_bytes", load.stateBytes() + held[s] * load.activationBytes() + working);
    }
    double[] bytes = problem().bytes(priced);
    for (int device = 0; device < bytes.length; device++) {
      figures.compareRounded("device_bytes[" + device + "]", bytes[device]);
    }
    figures.compare("objective.minibatch_s.value", priced.secondsPerBatch());
    return figures.problems();
  }

  @Override
  public List<String> files() {
    return PlanPictures.FILES;
  }

  @Override
  public SimulationResult simulate(SimulationOptions options) {
    options.refuseAllButSlow("repeats a pattern on links of its own", path);
    List<FileProblem> problems = misfits();
    if (problems.isEmpty() && !elsewhere) {
      problems.addAll(ofPattern(priced().pattern()));
    }
    PlanProblems.refuse(problems);
    return PatternSimulation.of(this, priced(), options.slowness(cluster().size()));
  }
}
