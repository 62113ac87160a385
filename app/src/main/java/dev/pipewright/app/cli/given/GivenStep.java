package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.app.cli.plan.Answer;
import dev.pipewright.app.cli.plan.PlanExporter;
import dev.pipewright.app.cli.plan.PlanProblems;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Misfit;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.PlanMemory;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.PlanFigures;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.formats.problem.StepOptions;
import dev.pipewright.formats.schedule.FileProblem;
import dev.pipewright.formats.schedule.JitterJson;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Evaluation;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.Jitter;
import dev.pipewright.sim.PlanWires;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.Staircase;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A plan of synchronous training.
 *
 * @param compared whether what the file states is what its plan has to have: it is looked at for
 *     what it was made for
 */
public record GivenStep(
    Path path,
    PlanFile<PipelinePlan> file,
    PipelinePlan plan,
    Costed costed,
    CostModel costModel,
    boolean compared)
    implements GivenFile {
  static GivenStep of(PlanArgument argument, PlanFile<PipelinePlan> file) {
    argument.model(file.madeFor());
    String word =
        argument.costModel == null
            ? file.costModel().orElse(StepOptions.COST_MODEL)
            : argument.costModel;
    CostModel prices =
        CostModel.find(word)
            .orElseThrow(() ->
                new BadInputException(
                    (argument.costModel == null ? argument.path.toString() : "--cost-model")
                        + ": unknown cost model '"
                        + word
                        + "'; "
                        + Suggestion.of(word, StepOptions.COST_MODELS)));
    SizeLimits.passes(argument.path.toString(), file.plan());
    long samples = file.plan().globalBatch();
    long said = file.madeFor().globalBatch().orElse(samples);
    boolean compared =
        !argument.elsewhere()
            && (argument.costModel == null || file.costModel().equals(Optional.of(word)));
    Costed costed =
        argument.costed(file.madeFor(), prices.isFor(said, file.plan()) ? said : samples);
    ParallelismLimits limits = new ParallelismLimits(costed.workload().chain().graph());
    PipelinePlan plan = limits.usual(file.plan());
    return new GivenStep(argument.path, file, plan, costed, prices, compared);
  }

  /** What exports it, priced as it is here. */
  public PlanExporter exporter(Optional<String> modelFormat) {
    return new PlanExporter(costed, costModel, globalBatch(), file.plan(), modelFormat);
  }

  /** Samples of a step: those of the plan's micro-batches, but where the cost model truncates. */
  private long globalBatch() {
    return file.madeFor().globalBatch().orElse(plan.globalBatch());
  }

  @Override
  public Map<String, Object> counted() {
    return Counted.of(plan.schedule());
  }

  @Override
  public List<FileProblem> problems() {
    List<FileProblem> problems = PlanProblems.ofSchedule(path, plan.schedule());
    boolean runs = problems.isEmpty();
    List<FileProblem> misfits = PlanProblems.misfits(path, plan.stages(), costed);
    problems.addAll(misfits);
    if (misfits.isEmpty()) {
      priced(runs, problems);
    }
    return problems;
  }

  private void priced(boolean runs, List<FileProblem> problems) {
    try {
      Assessment assessment = costModel.oracle(costed.costs(), globalBatch()).assess(plan);
      if (!assessment.fits()) {
        problems.addAll(tooLarge(assessment, runs));
      }
      problems.addAll(compared ? figures(assessment) : List.of());
    } catch (IllegalArgumentException e) {
      problems.add(FileProblem.of(path, "misfit", String.valueOf(e.getMessage())));
    }
  }

  private List<FileProblem> tooLarge(Assessment assessment, boolean runs) {
    List<FileProblem> problems = new ArrayList<>();
    @Nullable List<RankMemory> memories =
        runs ? PlanMemory.of(assessment.stages(), SimulatedOracle.run(plan, assessment)) : null;
    for (int stage = 0; stage < assessment.stages().size(); stage++) {
      PeakMemory memory = assessment.memory().get(stage);
      if (!memory.fits()) {
        String when =
            memories == null
                ? ""
                : when(memories.get(plan.placement().rankOf(stage)).total(), memory);
        String words = Misfit.of(plan, stage, memory).when(when).toString();
        problems.add(FileProblem.ofStage(path, stage, "memory", words));
      }
    }
    return problems;
  }

  private List<FileProblem> figures(Assessment assessment) {
    PlanFigures figures = file.figures();
    for (int stage = 0; stage < assessment.stages().size(); stage++) {
      String place = "stages[" + stage + "].";
      StageCost cost = assessment.stages().get(stage);
      figures.compare(place + "forward_s", cost.forwardSeconds());
      figures.compare(place + "backward_s", cost.backwardSeconds());
      figures.compare(place + "send_s", cost.sendSeconds());
      figures.compare(place + "return_s", cost.returnSeconds());
      figures.compare(place + "allreduce_s", cost.allReduceSeconds());
      figures.compare(place + "exposed_allreduce_s", cost.exposedAllReduceSeconds());
      figures.compare(place + "update_s", cost.updateSeconds());
      figures.compareRounded(place + "memory_bytes", assessment.memory().get(stage).peakBytes());
    }
    figures.compare("objective.step_s.value", assessment.stepSeconds());
    figures.compare("objective.peak_bytes.value", assessment.peakBytes());
    return figures.problems();
  }

  /** When in the step memory is too much, and when it is most. */
  private static String when(Staircase memory, PeakMemory sizes) {
    int above = -1;
    int peak = 0;
    for (int i = 0; i < memory.bytes().length; i++) {
      if (above < 0 && memory.bytes()[i] > sizes.capacity().value()) {
        above = i;
      }
      if (memory.bytes()[i] > memory.bytes()[peak]) {
        peak = i;
      }
    }
    if (above < 0) {
      return "";
    }
    return ", too much from %s of the step on, most at %s"
        .formatted(Units.seconds(memory.seconds()[above]), Units.seconds(memory.seconds()[peak]));
  }

  @Override
  public List<String> files() {
    SizeLimits.drawn(plan);
    return Answer.FILES;
  }

  @Override
  public Optional<TrainingFigures> figures() {
    return simulated(new SimulationOptions()).training();
  }

  @Override
  public SimulationResult simulate(SimulationOptions options) {
    return new Step(simulated(options));
  }

  private Answer simulated(SimulationOptions options) {
    PlanProblems.refuseMisfits(path, plan.stages(), costed);
    var costs = costed.costs();
    Jitter jitter = options.jitter();
    int runs = options.runs();
    SimulatedOracle oracle =
        new SimulatedOracle(
            costModel.oracle(costs, globalBatch()),
            options.conditions(Transfers.QUEUED, PlanWires.of(plan, costed.workload().cluster())),
            options.slowness(plan.placement().ranks()));
    long start = System.nanoTime();
    Planning planning;
    try {
      planning = Evaluation.of(costs, plan, globalBatch(), costModel, oracle);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(PlanProblems.refusal(path, plan.schedule(), e));
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Answer(
        planning,
        Answer.Subject.of(costed, file.madeFor().profileBatch(), globalBatch()),
        seconds,
        Answer.Remarks.NONE,
        best -> oracle.simulate(best.plan(), best.estimate()),
        jitter == null ? null : jittered(oracle, planning, jitter, runs));
  }

  private static JitterJson jittered(
      SimulatedOracle oracle, Planning planning, Jitter jitter, int runs) {
    Candidate best = planning.best().orElseThrow();
    return new JitterJson(jitter, oracle.simulate(best.plan(), best.estimate(), jitter, runs));
  }

  /** A simulated step. */
  private record Step(Answer answer) implements SimulationResult {
    @Override
    public String text() {
      StringWriter text = new StringWriter();
      PrintWriter out = new PrintWriter(text);
      answer.print(out);
      answer.printMemory(out);
      return text.toString();
    }

    @Override
    public String json() {
      return answer.json();
    }

    @Override
    public Optional<String> doesNotFit() {
      return answer.doesNotFit().map(Misfit::toString);
    }

    @Override
    public void write(OutputFolder folder) {
      answer.write(folder);
    }
  }
}
