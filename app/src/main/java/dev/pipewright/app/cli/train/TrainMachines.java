package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.launch.LaunchedRank;
import dev.pipewright.app.cli.launch.LauncherFlags;
import dev.pipewright.app.cli.launch.TlsFlags;
import dev.pipewright.execution.TrainingRequest.Machines;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.units.Seconds;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** On which machines workers run. */
public final class TrainMachines {
  private static final int PORTS = 1 << 16;

  @Option(
      names = "--remote-workers",
      paramLabel = "N",
      description =
          "Run the last N workers on other machines, which `join`. Paths of files must be valid"
              + " on all machines. Default: 0.")
  private @Nullable Integer remote;

  /** The former name. */
  @Option(names = "--elsewhere", paramLabel = "N", hidden = true)
  private @Nullable Integer elsewhere;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Port at which other machines join. Default: any free one.")
  private @Nullable Integer port;

  @Option(
      names = "--stall-timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description =
          "End the run when a worker makes no progress for this long, beyond the step time that the"
              + " plan predicts. Default: ${DEFAULT-VALUE}.")
  private int stallTimeout;

  @Mixin final LauncherFlags launcher = new LauncherFlags();

  @Mixin private TlsFlags tls = new TlsFlags();

  @Mixin final RestartFlags restarts = new RestartFlags();

  /**
   * What is trained by the ranks that have started.
   *
   * @param run its folder
   */
  PlannedRanks planned(
      TrainArgument.Chosen chosen, Optional<LaunchedRank> launched, Optional<Path> run) {
    if (!restarts.replans(launched.isPresent())) {
      return PlannedRanks.fixed(chosen);
    }
    int needed = launcher.ranksFor(chosen.assignment().size());
    return PlannedRanks.of(chosen, launched.orElseThrow(), needed, System.getenv(), run);
  }

  /** Whether people have other machines join. */
  boolean joined() {
    return remote != null || elsewhere != null;
  }

  /** Throws where certificates are given to a run that is on this machine alone. */
  void checkCertificates(Optional<LaunchedRank> launched) {
    if (tls.files().isPresent() && launched.isEmpty() && !joined()) {
      throw new BadInputException(
          "--tls-cert: all workers run on this machine; leave it out, or add --remote-workers N");
    }
  }

  /** Where workers run, as the flags and, for ranks of a launcher, the environment say. */
  Machines machines(int workers, Workers kind, Optional<LaunchedRank> launched) {
    Seconds stall = new Seconds(AtLeast.one("--stall-timeout", stallTimeout));
    Integer others = remote == null ? elsewhere : remote;
    if (launched.isPresent()) {
      return ranks(launched.get(), workers, kind, stall, others != null);
    }
    if (others == null) {
      if (port != null) {
        throw new BadInputException(
            "--port: no machine joins; leave it out, or add --remote-workers N");
      }
      return new Machines(0, 0, stall, launcher.grace(), Optional.empty(), tls.files());
    }
    AtLeast.one("--remote-workers", others);
    if (others > workers) {
      throw new BadInputException(
          "--remote-workers: all workers are %d; give at most as many".formatted(workers));
    }
    if (kind == Workers.THREADS) {
      throw new BadInputException(
          "--remote-workers: threads run in one process; leave out --workers threads");
    }
    if (port != null && (port < 0 || port >= PORTS)) {
      throw new BadInputException("--port: %d is no port; give one up to 65535".formatted(port));
    }
    return new Machines(
        others, port == null ? 0 : port, stall, launcher.grace(), Optional.empty(), tls.files());
  }

  private Machines ranks(
      LaunchedRank rank, int workers, Workers kind, Seconds stall, boolean remoteToo) {
    if (remoteToo || port != null) {
      throw new BadInputException(
          "--launcher env: the launcher says where workers run; leave out --remote-workers and"
              + " --port");
    }
    int here = rank.workersOf(workers);
    launcher.checkRoom(rank, workers);
    if (rank.worldSize() == 1) {
      return new Machines(
          0, 0, stall, launcher.grace(), Optional.of(launcher.alone()), Optional.empty());
    }
    if (kind == Workers.THREADS) {
      throw new BadInputException(
          "--launcher env: threads run in one process; leave out --workers threads");
    }
    return new Machines(
        rank.coordinates() ? workers - here : 0,
        rank.port(),
        stall,
        launcher.grace(),
        Optional.of(launcher.rendezvous(System.getenv())),
        tls.files());
  }
}
