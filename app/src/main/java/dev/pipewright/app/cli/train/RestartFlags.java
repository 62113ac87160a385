package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.execution.TrainingRequest.Keeping;
import dev.pipewright.execution.TrainingRequest.Machines;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.units.Seconds;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a run does when workers are lost. */
public final class RestartFlags {
  private static final int MOST = 1_000_000;

  @Option(
      names = "--max-restarts",
      paramLabel = "N",
      description =
          "When a worker is killed, hangs or is cut off, restart all workers from the last checkpoint,"
              + " up to N times. Ranks of a launcher join again within --join-timeout. Default: 0.")
  private @Nullable Integer most;

  @Option(
      names = "--replan",
      description =
          "With --launcher env: where fewer ranks start than the plan needs, or ranks do not come"
              + " back within --join-timeout, plan anew for the devices that are left and go on from"
              + " the last checkpoint. Needs a plan that says its cluster.")
  private boolean replan;

  /** Whether to plan anew; throws where no rank can be missing. */
  boolean replans(boolean launched) {
    if (replan && !launched) {
      throw new BadInputException(
          "--replan: is for ranks of a launcher; add --launcher env, or leave it out");
    }
    return replan;
  }

  /**
   * How long rank 0 may take to listen again after a failure: as long as any worker may make no
   * progress, but where it first has to plan anew.
   */
  Seconds returning(Machines machines) {
    Seconds joining = machines.rendezvous().orElseThrow().patience();
    boolean soon = !replan && machines.patience().value() < joining.value();
    return soon ? machines.patience() : joining;
  }

  /** How many restarts are wanted; throws where there would be nothing to restart from. */
  int most(Keeping keeping, Workers kind, boolean people) {
    int restarts = most == null ? 0 : (int) AtLeast.within("--max-restarts", most, 0, MOST);
    if (restarts == 0) {
      return 0;
    }
    if (keeping.checkpointEvery() == 0) {
      throw new BadInputException(
          "--max-restarts: there is no checkpoint to restart from; add --checkpoint-every N");
    }
    if (kind == Workers.THREADS) {
      throw new BadInputException(
          "--max-restarts: threads are lost with their process; leave out --workers threads");
    }
    if (people) {
      throw new BadInputException(
          "--max-restarts: machines that `join` do not come back by themselves; leave it out, or"
              + " start the run by a launcher");
    }
    return restarts;
  }
}
