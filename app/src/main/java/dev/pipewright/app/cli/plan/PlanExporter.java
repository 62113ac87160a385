package dev.pipewright.app.cli.plan;

import dev.pipewright.api.PlannedForTarget;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Misfit;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.export.ExportCatalog;
import dev.pipewright.formats.export.ExportSubject;
import dev.pipewright.formats.export.ExportedFile;
import dev.pipewright.formats.export.Gap;
import dev.pipewright.formats.export.PlanExport;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.PlanFit;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Evaluation;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Exports a plan with what it costs to say it in another way.
 *
 * @param costed network and cluster
 * @param globalBatch samples of a step
 * @param insteadOf the faster plan that the target cannot say, where a search kept to those that it
 *     can
 */
public record PlanExporter(
    Costed costed,
    CostModel costModel,
    long globalBatch,
    PipelinePlan plan,
    Optional<String> format,
    Optional<PlannedForTarget> insteadOf) {
  /** Of a plan that was not searched for a target. */
  public PlanExporter(
      Costed costed,
      CostModel costModel,
      long globalBatch,
      PipelinePlan plan,
      Optional<String> format) {
    this(costed, costModel, globalBatch, plan, format, Optional.empty());
  }

  /** The same of the answer of a search that kept to what a target can say. */
  PlanExporter insteadOf(Optional<PlannedForTarget> found) {
    return new PlanExporter(
        costed, costModel, globalBatch, plan, format, found.filter(PlannedForTarget::isRestricted));
  }

  /**
   * What an export came to.
   *
   * @param target its name
   * @param exported the plan whose files these are; empty where the target cannot say it
   * @param refusal what the target cannot say, and what the nearest plan costs, in a sentence;
   *     empty where it can say all
   */
  public record Outcome(
      String target,
      Optional<PipelinePlan> exported,
      List<ExportedFile> files,
      List<String> notes,
      Optional<String> refusal,
      Map<String, Object> object) {
    /** One object. */
    public String json() {
      return JsonText.of(object);
    }

    /** The one file's text; throws where there are several, which need a folder. */
    public String text() {
      if (files.size() > 1) {
        throw new BadInputException(
            "--to: %s writes %s; add --out DIR"
                .formatted(
                    target, String.join(", ", files.stream().map(ExportedFile::name).toList())));
      }
      return files.get(0).text();
    }
  }

  /** Exports the plan. */
  public Outcome export(String option, String name, ExportFlags flags) {
    PlanExport target = ExportCatalog.named(option, name, flags.options());
    ExportSubject exported = exported();
    List<Gap> gaps = target.gaps(exported);
    if (gaps.isEmpty()) {
      return outcome(name, target, exported, Optional.empty(), List.of());
    }
    String cannot = target.cannotSay(gaps);
    Optional<PipelinePlan> nearest = target.nearest(exported);
    if (nearest.isEmpty()) {
      return refused(name, cannot + "; no plan like it can be said, so take another target", gaps);
    }
    String words = cannot + "; " + words(nearest.get());
    if (flags.nearest) {
      return outcome(name, target, exported.with(nearest.get()), Optional.of(words), gaps);
    }
    return refused(name, words + "; --nearest exports it", gaps);
  }

  private Outcome outcome(
      String name,
      PlanExport target,
      ExportSubject exported,
      Optional<String> refusal,
      List<Gap> gaps) {
    List<ExportedFile> files = target.write(exported);
    List<String> notes = new ArrayList<>();
    insteadOf.ifPresent(found -> notes.add(words(target, found)));
    notes.addAll(target.notes(exported));
    Map<String, Object> object = object(name, gaps);
    insteadOf.ifPresent(found -> object.put("instead_of", object(found)));
    object.put(
        "files",
        files.stream().map(f -> JsonText.pair("name", f.name(), "text", f.text())).toList());
    object.put("notes", notes);
    object.put("plan", PlanJson.object(exported.plan()));
    return new Outcome(name, Optional.of(exported.plan()), files, notes, refusal, object);
  }

  /** What keeping to the target costs. */
  private static String words(PlanExport target, PlannedForTarget found) {
    return "%s cannot say the plan that is found without --export, whose step takes %s: %s; the step of this plan, which it can say, takes %s"
        .formatted(
            target.framework(),
            Units.seconds(found.freeSeconds()),
            String.join(", and ", found.cannotSay()),
            longer(found.cost()));
  }

  private static Map<String, Object> object(PlannedForTarget found) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("step_s", found.freeSeconds());
    object.put("cost", found.cost());
    object.put("cannot_say", found.cannotSay());
    object.put("plan", PlanJson.object(found.free().plan()));
    return object;
  }

  private static String longer(double change) {
    return Math.abs(change) < 5e-4
        ? "as long"
        : Units.percent(Math.abs(change)) + (change > 0 ? " longer" : " shorter");
  }

  private Outcome refused(String name, String sentence, List<Gap> gaps) {
    Map<String, Object> object = object(name, gaps);
    object.put("files", List.of());
    object.put("notes", List.of());
    object.put("plan", Optional.empty());
    object.put("reason", sentence);
    return new Outcome(name, Optional.empty(), List.of(), List.of(), Optional.of(sentence), object);
  }

  private static Map<String, Object> object(String name, List<Gap> gaps) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("target", name);
    object.put("cannot_say", gaps.stream().map(Gap::part).toList());
    return object;
  }

  /** What the nearest plan is and what it costs. */
  private String words(PipelinePlan nearest) {
    String stages = nearest.summary();
    String what =
        "the nearest plan that it can say is %s under %s with %d micro-batches of %d samples%s"
            .formatted(
                stages.equals(plan.summary()) ? "that of the same stages" : stages,
                nearest.spec().scheduleName(),
                nearest.microBatches(),
                nearest.microBatching(),
                nearest.sharding().level() > 0 ? ", ZeRO " + nearest.sharding().level() : "");
    Optional<Candidate> own = priced(plan);
    Optional<Candidate> other = priced(nearest);
    if (own.isEmpty() || other.isEmpty()) {
      return what + ", which cannot be priced for this network and cluster";
    }
    double before = own.get().seconds();
    double after = other.get().seconds();
    double change = after / before - 1;
    Optional<Misfit> misfit = other.get().estimate().misfits(nearest).stream().findFirst();
    return "%s, whose step takes %s instead of %s (%s) and whose fullest device holds %s instead of %s%s"
        .formatted(
            what,
            Units.seconds(after),
            Units.seconds(before),
            longer(change),
            Units.binary(other.get().peakBytes(), "B"),
            Units.binary(own.get().peakBytes(), "B"),
            misfit.isPresent() ? ", more than it has" : "");
  }

  /** Its price, as {@code plan --evaluate} finds it; empty where it is not for this workload. */
  private Optional<Candidate> priced(PipelinePlan other) {
    PipelinePlan usual = new ParallelismLimits(costed.workload().chain().graph()).usual(other);
    if (!PlanFit.problems(usual, costed).isEmpty()) {
      return Optional.empty();
    }
    try {
      SimulatedOracle simulator =
          new SimulatedOracle(costModel.oracle(costed.costs(), globalBatch));
      return Evaluation.of(costed.costs(), usual, globalBatch, costModel, simulator).best();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private ExportSubject exported() {
    return ExportSubject.of(costed, plan, format);
  }
}
