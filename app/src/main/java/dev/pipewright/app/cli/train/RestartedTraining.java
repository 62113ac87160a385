package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.train.TrainArgument.Chosen;
import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.execution.TrainingListener;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingService;
import dev.pipewright.formats.file.BadInputException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Trains and, when workers are lost, restarts all of them from the last checkpoint, in place: each
 * attempt has the same plan, data and order of samples, so the parameters of a run with restarts
 * are those of one without.
 *
 * <p>Where ranks do not come back and replanning is wanted, it goes on with another plan for the
 * ranks that are left.
 *
 * @param ranks that a launcher has started; 1 without one
 * @param most restarts
 * @param err where each is said
 */
record RestartedTraining(
    TrainingService service,
    int ranks,
    int most,
    Optional<Replanning> replanning,
    PrintWriter err) {
  /**
   * Trains until all steps are done.
   *
   * @throws TrainingFailureException where a worker is lost after the last restart
   */
  TrainingOutcome train(TrainingRequest first, TrainingListener listener) {
    TrainingRequest request = first;
    for (int restarts = 0; ; restarts++) {
      boolean more = restarts < most;
      try {
        return service.train(request.on(request.execution().machines().again(more)), listener);
      } catch (TrainingFailureException failure) {
        TrainingFailureException e = namingMissing(failure);
        boolean missing = e.joined().isPresent();
        if (!more || SearchDeadline.interrupted() || (missing && replanning.isEmpty())) {
          throw most == 0 || more ? e : usedUp(e);
        }
        Optional<String> checkpoint = e.checkpoint().or(request.keeping()::resumeFrom);
        request = request.keeping(request.keeping().restartedFrom(checkpoint));
        String how = "";
        if (missing) {
          Chosen other = onThoseLeft(e.joined().orElseThrow(), request);
          int here = replanning.orElseThrow().workersOf(0);
          request = request.with(other.assignment());
          int elsewhere = Math.max(0, other.assignment().size() - here);
          request = request.on(request.execution().machines().withElsewhere(elsewhere));
          how = " with another plan, " + Replanning.words(other) + ",";
        }
        say(e, restarts + 1, how, checkpoint);
      }
    }
  }

  /** The same with the ranks that have not joined, where it is about them. */
  private TrainingFailureException namingMissing(TrainingFailureException e) {
    List<Integer> joined = e.joined().orElse(List.of());
    List<Integer> missing =
        IntStream.range(1, ranks).filter(rank -> !joined.contains(rank)).boxed().toList();
    if (e.joined().isEmpty() || missing.isEmpty()) {
      return e;
    }
    String names = missing.stream().map(String::valueOf).collect(Collectors.joining(", "));
    return new TrainingFailureException(
        "%s: %s %s"
            .formatted(
                e.getMessage(),
                missing.size() == 1 ? "rank" : "ranks",
                names + (missing.size() == 1 ? " is missing" : " are missing")),
        e,
        e.checkpoint(),
        e.joined());
  }

  private Chosen onThoseLeft(List<Integer> joined, TrainingRequest request) {
    List<Integer> ranks = new ArrayList<>(List.of(0));
    ranks.addAll(joined);
    try {
      return replanning.orElseThrow().on(ranks);
    } catch (BadInputException e) {
      int waiting = joined.stream().mapToInt(replanning.get()::workersOf).sum();
      service.refuse(
          request.execution().machines().withElsewhere(waiting), String.valueOf(e.getMessage()));
      throw e;
    }
  }

  private TrainingFailureException usedUp(TrainingFailureException e) {
    String times = most == 1 ? "the only restart" : "all %d restarts".formatted(most);
    return new TrainingFailureException(
        "%s; %s of --max-restarts came before".formatted(e.getMessage(), times),
        e,
        e.checkpoint(),
        e.joined());
  }

  private void say(
      TrainingFailureException e, int restart, String how, Optional<String> checkpoint) {
    err.printf(
        "pipewright: %s; restart %d of %d%s from %s%n",
        e.getMessage(), restart, most, how, checkpoint.orElse("the first step"));
    err.flush();
  }
}
