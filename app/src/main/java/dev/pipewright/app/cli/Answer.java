package dev.pipewright.app.cli;

import dev.pipewright.app.report.HtmlReport;
import dev.pipewright.app.report.MemoryText;
import dev.pipewright.app.report.PerfettoTrace;
import dev.pipewright.app.report.Picture;
import dev.pipewright.app.report.Runs;
import dev.pipewright.app.report.TerminalReport;
import dev.pipewright.app.report.TimelineSvg;
import dev.pipewright.app.report.TimelineText;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.AnswerJson;
import dev.pipewright.formats.JitterJson;
import dev.pipewright.formats.OutputFolder;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.TrainingFiguresJson;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.SimulatedOracle;
import dev.pipewright.sim.memory.PlanMemory;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.Timeline;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A planning and the simulated step of its best plan, shown in every form that commands offer. */
final class Answer {
  private final Planning planning;
  private final ModelArgument.Costed costed;
  private final long globalBatch;
  private final double planningSeconds;
  private final OptionalInt profileBatch;
  private final @Nullable Timeline timeline;
  private final List<RankMemory> memory; // by stage
  private final @Nullable JitterJson jitter;

  /** The step as simulated usually. */
  Answer(
      Planning planning,
      ModelArgument.Costed costed,
      long globalBatch,
      double planningSeconds,
      OptionalInt profileBatch) {
    this(
        planning,
        costed,
        globalBatch,
        planningSeconds,
        profileBatch,
        best -> SimulatedOracle.run(best.plan(), best.estimate()),
        null);
  }

  Answer(
      Planning planning,
      ModelArgument.Costed costed,
      long globalBatch,
      double planningSeconds,
      OptionalInt profileBatch,
      Function<Candidate, Run> simulator,
      @Nullable JitterJson jitter) {
    this.planning = planning;
    this.costed = costed;
    this.globalBatch = globalBatch;
    this.planningSeconds = planningSeconds;
    this.profileBatch = profileBatch;
    Optional<Run> run = planning.best().map(simulator);
    this.memory =
        run.map(step -> PlanMemory.of(planning.best().orElseThrow().estimate().stages(), step))
            .orElse(List.of());
    this.timeline =
        run.map(step -> timeline(planning.best().orElseThrow(), step, memory)).orElse(null);
    this.jitter = jitter;
  }

  private static Timeline timeline(Candidate best, Run run, List<RankMemory> memory) {
    return Recorder.timeline(best.plan(), best.estimate().stages(), run, memory);
  }

  private Picture picture() {
    return new Picture(
        costed.model() + " on " + costed.workload().cluster().name(),
        planning,
        Optional.ofNullable(timeline),
        planningSeconds,
        costed.workload().profile().provenance().toString(),
        figures());
  }

  /** What the best plan trains with and how fast; empty when nothing fits. */
  Optional<TrainingFigures> figures() {
    return planning
        .best()
        .map(best -> {
          Plan plan = best.plan();
          List<Integer> perRank =
              plan.stages().stream()
                  .map(stage -> StageCosts.slice(plan.microBatching(), stage.replicas()))
                  .toList();
          int devices = plan.stages().stream().mapToInt(StagePlan::replicas).sum();
          return TrainingFigures.of(
              costed.workload(), globalBatch, perRank, best.seconds(), devices);
        });
  }

  void print(PrintWriter out) {
    boolean colours = Terminal.colours();
    out.print(TerminalReport.of(picture(), Terminal.columns(), colours));
    if (timeline != null) {
      out.println();
      out.print(TimelineText.of(Runs.of(picture().title(), timeline), Terminal.columns(), colours));
    }
    if (jitter != null) {
      out.println();
      out.print(Terminal.sentence(jitter.words(Units::seconds)));
    }
  }

  /** What every stage's devices hold when they hold most. */
  void printMemory(PrintWriter out) {
    out.println();
    out.print(MemoryText.of(memory, Terminal.columns(), Terminal.colours()));
  }

  String json() {
    String text = AnswerJson.text(planning, context());
    return figures().map(found -> TrainingFiguresJson.added(text, found)).orElse(text);
  }

  private AnswerJson.Context context() {
    return new AnswerJson.Context(
        costed.model(),
        costed.cluster(),
        costed.workload().profile().provenance().toString(),
        planning.best().isPresent() ? OptionalLong.of(globalBatch) : OptionalLong.empty(),
        profileBatch,
        planningSeconds,
        Optional.ofNullable(timeline).map(this::simulated),
        Optional.of(costed.workload().training()),
        costed.memory());
  }

  private AnswerJson.Simulated simulated(Timeline step) {
    List<Long> peaks = new ArrayList<>();
    Plan plan = planning.best().orElseThrow().plan();
    Long[] byDevice = new Long[costed.workload().cluster().size()];
    java.util.Arrays.fill(byDevice, 0L);
    for (int stage = 0; stage < plan.stages().size(); stage++) {
      for (int device : plan.stages().get(stage).devices()) {
        byDevice[device] = Math.round(step.memory().get(stage).peak());
      }
    }
    peaks.addAll(List.of(byDevice));
    return new AnswerJson.Simulated(
        step.stepSeconds(),
        step.idleShare(),
        step.spanIdleShare(),
        peaks,
        memory,
        Optional.ofNullable(jitter));
  }

  /** The names of the files that {@link #write} makes. */
  static final String[] FILES = {"plan.json", "report.html", "timeline.svg", "trace.json"};

  void write(OutputFolder folder) {
    Candidate best = planning.best().orElseThrow();
    PlanFile file =
        new PlanFile(
            best.plan(),
            Optional.of(ModelArgument.anywhere(costed.model())),
            Optional.of(ClusterNames.anywhere(costed.cluster())),
            Optional.of(planning.costModel()),
            OptionalLong.of(globalBatch),
            profileBatch,
            Optional.of(costed.workload().training()),
            costed.memory());
    Picture picture = picture();
    folder.write("plan.json", PlanJson.text(file));
    folder.write("report.html", out -> HtmlReport.write(picture, out));
    Timeline step = Objects.requireNonNull(timeline);
    folder.write("timeline.svg", TimelineSvg.of("", Runs.of(picture.title(), step)));
    folder.write("trace.json", out -> PerfettoTrace.write(picture.title(), step, out));
  }

  /** The first stage of the best plan that does not fit, worded; empty when all do. */
  Optional<String> doesNotFit() {
    if (planning.best().isEmpty()) {
      return Optional.empty();
    }
    Assessment estimate = planning.best().get().estimate();
    int stage = estimate.firstThatDoesNotFit();
    if (stage < 0) {
      return Optional.empty();
    }
    var memory = estimate.stages().get(stage).memory();
    return Optional.of(
        "stage "
            + stage
            + " needs "
            + Units.binary(memory.peakBytes(), "B")
            + " on each device, which has "
            + memory.capacity()
            + "; try recomputation, more stages or a smaller micro-batch");
  }
}
