package dev.pipewright.formats.schedule;

import dev.pipewright.formats.schedule.ScheduleAction.Kind;
import dev.pipewright.schedule.Placement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Checks what a schedule file does with stages as a whole: a stage whose parameters are gathered
 * anywhere has them whenever it computes, and gradients are added up after a backward pass, those
 * of all stages or of none.
 */
final class ScheduleStageActions {
  private final Path file;
  private final Placement placement;
  private final List<List<ScheduleAction>> ranks;
  private final BitSet gathered = new BitSet(); // stages, somewhere in the line of their rank
  private final BitSet whole = new BitSet(); // stages whose parameters are there
  private final BitSet backward = new BitSet(); // stages with gradients
  private final BitSet reduced = new BitSet(); // stages whose gradients are added up
  private final List<FileProblem> problems = new ArrayList<>();

  ScheduleStageActions(Path file, Placement placement, List<List<ScheduleAction>> ranks) {
    this.file = file;
    this.placement = placement;
    this.ranks = ranks;
  }

  List<FileProblem> problems() {
    for (int rank = 0; rank < ranks.size(); rank++) {
      for (ScheduleAction action : ranks.get(rank)) {
        if (action.kind() == Kind.UNSHARD && placement.rankOf(action.stage()) == rank) {
          gathered.set(action.stage());
        }
      }
    }
    for (int rank = 0; rank < ranks.size(); rank++) {
      for (ScheduleAction action : ranks.get(rank)) {
        check(action, rank);
      }
    }
    if (!reduced.isEmpty()) {
      unreduced();
    }
    return problems;
  }

  private void check(ScheduleAction action, int rank) {
    int stage = action.stage();
    if (action.kind().ofStage() && placement.rankOf(stage) != rank) {
      problem(action, "%s stands in another rank's line".formatted(action));
      return;
    }
    switch (action.kind()) {
      case UNSHARD -> whole.set(stage);
      case RESHARD -> whole.clear(stage);
      case REDUCE_GRAD -> {
        if (!backward.get(stage)) {
          problem(action, "%s adds up gradients that are not computed yet".formatted(action));
        }
        reduced.set(stage);
      }
      case FORWARD, BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT -> {
        if (gathered.get(stage) && !whole.get(stage)) {
          problem(
              action, "%s computes without the parameters of %dUNSHARD".formatted(action, stage));
        }
        backward.set(stage, backward.get(stage) || action.kind() != Kind.FORWARD);
      }
      default -> {}
    }
  }

  /** Names each stage whose gradients are not reduced, where those of others are. */
  private void unreduced() {
    for (int stage = reduced.nextClearBit(0);
        stage < placement.stages();
        stage = reduced.nextClearBit(stage + 1)) {
      ScheduleAction last = ranks.get(placement.rankOf(stage)).getLast();
      String words =
          "the line ends without %dREDUCE_GRAD, though other stages have theirs".formatted(stage);
      problems.add(
          new FileProblem(
              file,
              last.line(),
              0,
              "parameters",
              placement.rankOf(stage),
              stage,
              -1,
              words,
              List.of()));
    }
  }

  private void problem(ScheduleAction action, String words) {
    problems.add(action.problem(file, "parameters", placement, words));
  }
}
