package dev.pipewright.formats.export;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Restriction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A framework or a launcher whose files a plan can be written as. */
public interface PlanExport {
  /** A plan's parts are changed at most so often on the way to one that a framework can say. */
  int MOST_CHANGES = 32;

  /** The framework's name in sentences. */
  String framework();

  /** The limits of what it can say, in the order in which plans are changed to keep them. */
  List<ExportRule> rules();

  /**
   * The schedules of the catalogue that it has; none where it has all.
   *
   * @param plan any of the network
   */
  List<String> schedules(ExportSubject plan);

  /**
   * The plans of a network on a cluster that it can say.
   *
   * @param plan any of them
   */
  default Restriction restriction(ExportSubject plan) {
    return new TargetRestriction(this, plan);
  }

  /** The names of the files of any plan. */
  List<String> fileNames();

  /** The files of a plan without gaps. */
  List<ExportedFile> files(ExportSubject plan);

  /** What a user should know of the files of a plan; sentences, none for most. */
  default List<String> notes(ExportSubject plan) {
    return List.of();
  }

  /**
   * What only the user knows and the files leave open, such as data and learning rate, as lines of
   * sentences. Files that have comments begin with them.
   */
  List<String> toAdd(ExportSubject plan);

  /** How a launcher starts the files of a plan without gaps. */
  LaunchCommand launch(ExportSubject plan);

  /** The parts of a plan that it cannot say; empty where it can say all of it. */
  default List<Gap> gaps(ExportSubject plan) {
    List<Gap> gaps = new ArrayList<>();
    for (ExportRule rule : rules()) {
      Optional<Gap> gap = rule.gap(plan);
      gap.ifPresent(gaps::add);
      if (gap.isPresent() && gap.get().nearest().isEmpty()) {
        break; // what follows presumes it
      }
    }
    return gaps;
  }

  /** The plan whose parts it can say, each as near as it can; empty where there is none. */
  default Optional<PipelinePlan> nearest(ExportSubject plan) {
    ExportSubject now = plan;
    for (int changes = 0; changes < MOST_CHANGES; changes++) {
      Optional<Gap> gap = Optional.empty();
      for (ExportRule rule : rules()) {
        gap = gap.isPresent() ? gap : rule.gap(now);
      }
      if (gap.isEmpty()) {
        return Optional.of(now.plan());
      }
      if (gap.get().nearest().isEmpty()) {
        return Optional.empty();
      }
      now = now.with(gap.get().nearest().get());
    }
    return Optional.empty();
  }

  /** Writes a plan; throws {@link BadInputException} where it cannot say it. */
  default List<ExportedFile> write(ExportSubject plan) {
    List<Gap> gaps = gaps(plan);
    if (!gaps.isEmpty()) {
      throw new BadInputException(cannotSay(gaps) + "; export the nearest plan that it can say");
    }
    return files(plan);
  }

  /** That it cannot say these parts. */
  default String cannotSay(List<Gap> gaps) {
    return framework()
        + " cannot say "
        + gaps.stream().map(Gap::part).collect(Collectors.joining(", and it cannot say "));
  }
}
