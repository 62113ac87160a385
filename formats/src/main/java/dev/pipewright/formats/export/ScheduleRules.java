package dev.pipewright.formats.export;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.ScheduleSpec;
import java.util.List;
import java.util.Optional;

/** Which orders of work frameworks have. */
final class ScheduleRules {
  private ScheduleRules() {}

  /** A schedule that a framework makes of its name, ranks, chunks and micro-batches. */
  record Known(String name, String theirs) {}

  /** Their names in the catalogue. */
  static List<String> names(List<Known> known) {
    return known.stream().map(Known::name).toList();
  }

  /**
   * The schedule is one of these; others become the interleaved one where that is among them and
   * the ranks have several stages, and 1F1B otherwise. Interleaving needs micro-batches that the
   * ranks divide.
   */
  static ExportRule among(List<Known> known) {
    return exported ->
        theirs(known, exported).isPresent()
            ? Optional.empty()
            : Optional.of(new Gap(what(exported.plan(), known), nearest(exported, known)));
  }

  /** The framework's name of a plan's schedule; empty where it has none like it. */
  static Optional<String> theirs(List<Known> known, ExportSubject exported) {
    PipelinePlan plan = exported.plan();
    for (Known each : known) {
      boolean looped = exported.chunks() > 1;
      boolean divided = plan.microBatches() % exported.ranks() == 0;
      boolean allowed = !looped || divided;
      boolean fits = looped != PipelinePolicy.find(each.name()).isPresent();
      if (allowed
          && fits
          && plan.placement().chains() == 1
          && PlanChanges.schedule(
                  each.name(), exported.ranks(), exported.chunks(), plan.microBatches())
              .filter(spec -> PlanChanges.runs(plan, spec))
              .isPresent()) {
        return Optional.of(each.theirs());
      }
    }
    return Optional.empty();
  }

  private static String what(PipelinePlan plan, List<Known> known) {
    String name = plan.spec().scheduleName();
    Placement placement = plan.placement();
    String theirs = String.join(", ", known.stream().map(Known::theirs).toList());
    if (placement.chains() > 1) {
      return "the schedule %s, which runs two pipelines at once (it has %s)"
          .formatted(name, theirs);
    }
    boolean looped =
        placement.equals(
            Placement.looped(placement.ranks(), placement.depth() / placement.ranks()));
    if (!looped) {
      return "stages placed in a V or a wave by %s (it has %s)".formatted(name, theirs);
    }
    boolean isKnown = known.stream().anyMatch(each -> each.name().equals(name));
    if (isKnown && placement.depth() > placement.ranks()) {
      return "%s with %d micro-batches, which %d ranks do not divide"
          .formatted(name, plan.microBatches(), placement.ranks());
    }
    return isKnown
        ? "%s with other numbers of micro-batches in flight than usual".formatted(name)
        : "the schedule %s (it has %s)".formatted(name, theirs);
  }

  private static Optional<PipelinePlan> nearest(ExportSubject exported, List<Known> known) {
    PipelinePlan plan = exported.plan();
    boolean several = plan.placement().chains() == 1 && exported.chunks() > 1;
    boolean divided = plan.microBatches() % exported.ranks() == 0;
    boolean interleaves = known.stream().anyMatch(each -> each.name().equals(Interleaved.NAME));
    if (several && divided && interleaves) {
      Optional<ScheduleSpec> looped =
          PlanChanges.schedule(
              Interleaved.NAME, exported.ranks(), exported.chunks(), plan.microBatches());
      Optional<PipelinePlan> made =
          looped.flatMap(spec -> PlanChanges.under(spec, plan, plan.stages()));
      if (made.isPresent()) {
        return made;
      }
    }
    return PlanChanges.under(
        PipelinePolicy.A, plan, several ? PlanChanges.joined(plan) : plan.stages());
  }

  /** One pipeline; a schedule of two directions becomes 1F1B. */
  static ExportRule oneDirection() {
    return exported ->
        exported.plan().placement().chains() == 1
            ? Optional.empty()
            : Optional.of(
                new Gap(
                    "the schedule %s, which runs two pipelines at once"
                        .formatted(exported.plan().spec().scheduleName()),
                    PlanChanges.under(
                        PipelinePolicy.A, exported.plan(), exported.plan().stages())));
  }
}
