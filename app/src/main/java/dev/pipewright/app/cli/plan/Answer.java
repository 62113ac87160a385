package dev.pipewright.app.cli.plan;

import dev.pipewright.api.SimulatedStep;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.plan.HtmlReport;
import dev.pipewright.app.report.plan.MemoryText;
import dev.pipewright.app.report.plan.Picture;
import dev.pipewright.app.report.plan.TerminalReport;
import dev.pipewright.app.report.timeline.PerfettoTrace;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.TimelineSvg;
import dev.pipewright.app.report.timeline.TimelineText;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Misfit;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.AnswerJson;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.answer.TrainingFiguresJson;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.formats.schedule.JitterJson;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.reasons.Reasons;
import dev.pipewright.sim.Run;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.Timeline;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A planning and the simulated step of its best plan, shown in every form that commands offer. */
public final class Answer implements PlannerAnswer {
  /** The names of the files that {@link #write} makes. */
  public static final List<String> FILES =
      List.of("plan.json", "report.html", "timeline.svg", "trace.json");

  private final Planning planning;
  private final Subject subject;
  private final double planningSeconds;
  private final Remarks remarks;
  private final @Nullable Timeline timeline; // where there is a plan whose times are known
  private final List<RankMemory> memory; // by rank
  private final @Nullable JitterJson jitter;

  /**
   * What was planned.
   *
   * @param madeFor model and cluster as the user named them
   * @param provenance where the model's times or peaks come from
   * @param workload empty where no times are known
   */
  public record Subject(
      MadeFor madeFor, Cluster cluster, String provenance, Optional<Workload> workload) {
    /** A model on a cluster. */
    public static Subject of(Costed costed, OptionalInt profileBatch, long globalBatch) {
      Workload workload = costed.workload();
      MadeFor madeFor =
          new MadeFor(
              Optional.of(costed.model()),
              Optional.of(costed.cluster()),
              OptionalLong.of(globalBatch),
              profileBatch,
              costed.sequence(),
              Optional.of(workload.training()),
              costed.memory());
      return new Subject(
          madeFor,
          workload.cluster(),
          workload.profile().provenance().toString(),
          Optional.of(workload));
    }

    private String title() {
      String model = madeFor.model().orElse("the model");
      String name = workload.isPresent() ? model : String.valueOf(Path.of(model).getFileName());
      return name + " on " + cluster.name();
    }
  }

  /** What a planner says of its plan, or of why there is none. */
  public interface Remarks {
    /** Of a plan that was given. */
    Remarks NONE = new Remarks() {};

    /** Why there is no plan, and what would help. */
    default Optional<String> nothing() {
      return Optional.empty();
    }

    /** What else to say of the plan. */
    public default List<String> of() {
      return List.of();
    }

    /** What exports the best plan; empty where it has no times. */
    default Optional<PlanExporter> exporter() {
      return Optional.empty();
    }

    /** Why the plan is the best. */
    default Reasons reasons() {
      return Reasons.NONE;
    }

    /** Whether plans that do not fit count as none. */
    default boolean limitsMemory() {
      return true;
    }
  }

  /** The step as simulated usually. */
  public Answer(Planning planning, Subject subject, double planningSeconds, Remarks remarks) {
    this(
        planning,
        subject,
        planningSeconds,
        remarks,
        best -> SimulatedOracle.run(best.plan(), best.estimate()),
        null);
  }

  public Answer(
      Planning planning,
      Subject subject,
      double planningSeconds,
      Remarks remarks,
      Function<Candidate, Run> simulator,
      @Nullable JitterJson jitter) {
    this.subject = subject;
    this.planningSeconds = planningSeconds;
    this.remarks = remarks;
    this.jitter = jitter;
    Optional<Candidate> timed = planning.best().filter(best -> !Double.isNaN(best.seconds()));
    if (timed.isEmpty()) {
      this.planning = planning;
      this.timeline = null;
      this.memory = List.of();
      return;
    }
    Candidate best = timed.get();
    Run run = simulator.apply(best);
    SimulatedStep step = SimulatedStep.of(best.plan(), best.estimate(), run);
    this.planning =
        planning.objective() == Objective.PEAK_MEMORY
            ? planning.simulated(
                new Assessment(
                    "simulated",
                    run.makespan(),
                    best.estimate().stages(),
                    best.estimate().memory()))
            : planning;
    this.memory = step.memory();
    this.timeline = step.timeline();
  }

  public Planning planning() {
    return planning;
  }

  @Override
  public Optional<Answer> planned() {
    return planning.best().isPresent() ? Optional.of(this) : Optional.empty();
  }

  Cluster cluster() {
    return subject.cluster;
  }

  private Picture picture() {
    return new Picture(
        subject.title(),
        planning,
        Optional.ofNullable(timeline),
        planningSeconds,
        subject.provenance,
        training(),
        remarks.reasons());
  }

  /** What the best plan trains with and how fast; empty when nothing fits. */
  public Optional<TrainingFigures> training() {
    return subject.workload.flatMap(
        workload -> planning.best().map(best -> training(workload, best)));
  }

  private TrainingFigures training(Workload workload, Candidate best) {
    PipelinePlan plan = best.plan();
    List<Integer> perRank =
        plan.stages().stream()
            .map(stage -> StageCosts.slice(plan.microBatching(), stage.replicas()))
            .toList();
    long batch = subject.madeFor.globalBatch().orElse(plan.globalBatch());
    return TrainingFigures.of(workload, batch, perRank, best.seconds(), plan.devices());
  }

  @Override
  public void print(PrintWriter out) {
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
  public void printMemory(PrintWriter out) {
    out.println();
    out.print(MemoryText.of(memory, Terminal.columns(), Terminal.colours()));
  }

  @Override
  public String json() {
    AnswerJson.Context context =
        new AnswerJson.Context(
            subject.madeFor,
            subject.provenance,
            planningSeconds,
            Optional.ofNullable(timeline).map(this::simulated),
            remarks.reasons());
    String text = AnswerJson.text(planning, context);
    return training().map(found -> TrainingFiguresJson.added(text, found)).orElse(text);
  }

  private AnswerJson.Simulated simulated(Timeline step) {
    PipelinePlan plan = planning.best().orElseThrow().plan();
    Long[] byDevice = Collections.nCopies(subject.cluster.size(), 0L).toArray(Long[]::new);
    for (int rank = 0; rank < plan.devicesByRank().size(); rank++) {
      for (int device : plan.devicesByRank().get(rank)) {
        byDevice[device] = Math.round(step.memory().get(rank).peak());
      }
    }
    return new AnswerJson.Simulated(
        step.stepSeconds(),
        step.idleShare(),
        step.spanIdleShare(),
        Arrays.asList(byDevice),
        memory,
        Optional.ofNullable(jitter));
  }

  @Override
  public List<String> files() {
    return timeline == null ? FILES.subList(0, 1) : FILES;
  }

  @Override
  public void write(OutputFolder folder) {
    Candidate best = planning.best().orElseThrow();
    MadeFor madeFor = anywhere(subject.madeFor);
    PlanFile<PipelinePlan> file =
        new PlanFile<>(best.plan(), madeFor, Optional.of(planning.costModel()));
    folder.write("plan.json", PlanJson.text(file));
    if (timeline != null) {
      Timeline step = timeline;
      Picture picture = picture();
      folder.write("report.html", out -> HtmlReport.write(picture, out));
      folder.write("timeline.svg", TimelineSvg.of("", Runs.of(picture.title(), step)));
      folder.write("trace.json", out -> PerfettoTrace.write(picture.title(), step, out));
    }
  }

  /** As a file elsewhere names the same model and cluster. */
  static MadeFor anywhere(MadeFor madeFor) {
    return madeFor.named(
        NetworkNames.anywhere(madeFor.model().orElseThrow()),
        madeFor.cluster().map(ClusterNames::anywhere));
  }

  @Override
  public Optional<String> nothing() {
    return planning.best().isPresent() ? Optional.empty() : remarks.nothing();
  }

  @Override
  public Optional<PlanExporter> exporter() {
    return remarks.exporter();
  }

  @Override
  public List<String> remarks() {
    return remarks.of();
  }

  @Override
  public boolean fits() {
    return planning.best().isPresent() && (!remarks.limitsMemory() || doesNotFit().isEmpty());
  }

  /** The first stage of the best plan that does not fit; empty when all do. */
  public Optional<Misfit> doesNotFit() {
    return planning.best().flatMap(Answer::doesNotFit);
  }

  static Optional<Misfit> doesNotFit(Candidate plan) {
    return plan.estimate().misfits(plan.plan()).stream().findFirst();
  }
}
