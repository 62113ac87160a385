package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.execution.TrainingListener;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingService;
import java.io.PrintWriter;
import java.util.Optional;

/**
 * Trains and, when workers are lost, restarts all of them from the last checkpoint, in place: each
 * attempt has the same plan, data and order of samples, so the parameters of a run with restarts
 * are those of one without.
 *
 * @param most restarts
 * @param err where each is said
 */
record RestartedTraining(TrainingService service, int most, PrintWriter err) {
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
        return service.train(request.on(request.machines().again(more)), listener);
      } catch (TrainingFailureException e) {
        if (!more || SearchDeadline.interrupted() || e.joined().isPresent()) {
          throw most == 0 || more ? e : usedUp(e);
        }
        Optional<String> checkpoint = e.checkpoint().or(request.keeping()::resumeFrom);
        request = request.keeping(request.keeping().restartedFrom(checkpoint));
        say(e, restarts + 1, checkpoint);
      }
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

  private void say(TrainingFailureException e, int restart, Optional<String> checkpoint) {
    err.printf(
        "pipewright: %s; restart %d of %d from %s%n",
        e.getMessage(), restart, most, checkpoint.orElse("the first step"));
    err.flush();
  }
}
