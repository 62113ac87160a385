package dev.pipewright.app.cli.launch;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.launch.RankEnvironment.Stated;
import dev.pipewright.execution.JoinRequest;
import dev.pipewright.execution.TrainingRequest.Rendezvous;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.units.Seconds;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How a run knows its ranks where the same command is started once for each. */
public final class LauncherFlags {
  /** How ranks are started. */
  enum Launcher {
    NONE,
    ENV
  }

  /** How much longer other ranks wait than the coordinator takes to end a run. */
  private static final double MORE_GRACE = 1;

  private static final double MOST_SECONDS = 1e6;
  private static final int SECRET_BYTES = 16;

  @Option(
      names = "--launcher",
      paramLabel = "KIND",
      defaultValue = "none",
      description =
          "env: this command was started once for each rank, by srun, mpirun, torchrun, a JobSet or"
              + " a TrainJob, whose variables say rank, number of ranks and host of rank 0, which"
              + " coordinates. All ranks read the same secret from PIPEWRIGHT_TOKEN or"
              + " --token-file. Default: ${DEFAULT-VALUE}.")
  private Launcher launcher = Launcher.NONE;

  @Option(
      names = "--rank",
      paramLabel = "R",
      description = "This process's rank, from 0 on. Default: what the launcher says.")
  private @Nullable Integer rank;

  @Option(
      names = "--world-size",
      paramLabel = "N",
      description = "How many ranks there are. Default: what the launcher says.")
  private @Nullable Integer worldSize;

  @Option(
      names = "--coordinator",
      paramLabel = "HOST[:PORT]",
      description = "Where rank 0 listens. Default: what the launcher says.")
  private @Nullable String coordinator;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "The secret that all ranks share, in a file that only its owner can read. Default: the"
              + " variable PIPEWRIGHT_TOKEN.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--join-timeout",
      paramLabel = "SECONDS",
      defaultValue = "600",
      description = "How long ranks wait for each other at the start. Default: ${DEFAULT-VALUE}.")
  private int joinTimeout;

  @Option(
      names = "--workers-per-rank",
      paramLabel = "N",
      description =
          "Most workers of a rank: fewer ranks than the plan needs are refused. Default: any.")
  private @Nullable Integer workersPerRank;

  @Option(
      names = "--grace",
      paramLabel = "SECONDS",
      defaultValue = "3.5",
      description =
          "How long the run may take to end with a checkpoint after SIGTERM or Ctrl-C before it is"
              + " killed. Default: ${DEFAULT-VALUE}.")
  private double grace;

  /** How long the run may take to end after an interrupt. */
  public Seconds grace() {
    if (!(grace > 0 && grace <= MOST_SECONDS)) {
      throw new BadInputException(
          "--grace: %s is no time to end in; give seconds up to a million, like 60"
              .formatted(grace));
    }
    return new Seconds(grace);
  }

  /** The ranks that a run needs; one where any number of workers may be on a rank. */
  public int ranksFor(int workers) {
    int each = AtLeast.few("--workers-per-rank", workersPerRank, workers);
    return (workers + each - 1) / each;
  }

  /** Throws where the ranks cannot hold all workers. */
  public void checkRoom(LaunchedRank launched, int workers) {
    int each = AtLeast.few("--workers-per-rank", workersPerRank, workers);
    int room = (int) Math.min(Integer.MAX_VALUE, (long) each * launched.worldSize());
    if (room < workers) {
      throw new BadInputException(
          "--launcher env: %s starts %d ranks for %d workers each, but the run has %d; plan for %d devices, or start %d ranks"
              .formatted(
                  launched.launcher(),
                  launched.worldSize(),
                  each,
                  workers,
                  room,
                  (workers + each - 1) / each));
    }
  }

  /** This process's rank, where a launcher has started it. */
  public Optional<LaunchedRank> rank(Map<String, String> environment) {
    boolean stated = rank != null || worldSize != null || coordinator != null;
    if (launcher == Launcher.NONE && !stated) {
      return Optional.empty();
    }
    return Optional.of(RankEnvironment.of(environment, new Stated(rank, worldSize, coordinator)));
  }

  /** The secret and the patience of all ranks. */
  public Rendezvous rendezvous(Map<String, String> environment) {
    return new Rendezvous(
        RunToken.of(environment, tokenFile),
        new Seconds(AtLeast.one("--join-timeout", joinTimeout)),
        false);
  }

  /** The same of the only rank, whose secret no other needs. */
  public Rendezvous alone() {
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    return new Rendezvous(HexFormat.of().formatHex(secret), new Seconds(1), false);
  }

  /**
   * What a rank other than 0 does.
   *
   * @param slots its workers
   * @param logs the folder for what they print
   * @param returning how long rank 0 may take to listen for another attempt
   */
  public JoinRequest join(
      LaunchedRank launched,
      Rendezvous rendezvous,
      int slots,
      Optional<String> logs,
      Seconds returning) {
    return new JoinRequest(
        launched.host(),
        launched.port(),
        rendezvous.token(),
        slots,
        logs,
        OptionalInt.of(launched.rank()),
        rendezvous.patience(),
        returning,
        new Seconds(grace + MORE_GRACE),
        Optional.empty(),
        rendezvous.again());
  }
}
