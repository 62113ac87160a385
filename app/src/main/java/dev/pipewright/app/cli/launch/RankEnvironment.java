package dev.pipewright.app.cli.launch;

import dev.pipewright.formats.file.BadInputException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds a process's rank, the number of ranks and the address of rank 0 in its environment.
 *
 * <p>Launchers nest: {@code srun mpirun}, {@code srun torchrun}, {@code torchrun} in a pod. The
 * innermost one that has set its variables decides. Names of variables: Slurm 22.05 {@code srun},
 * Open MPI 4.1, MPICH 4.0 (Hydra), torchrun, Kubeflow Trainer v2 ({@code PET_*}), Kubernetes'
 * Indexed Jobs.
 */
public final class RankEnvironment {
  /** Where rank 0 listens if neither the launcher nor a job's number says more. */
  static final int USUAL_PORT = 29511;

  private static final int FIRST_JOB_PORT = 20_000;
  private static final int JOB_PORTS = 10_000; // below those that systems give to clients
  private static final int STEPS_OF_JOB = 7; // apart
  private static final int PORTS = 1 << 16;

  /**
   * The variables of a launcher.
   *
   * @param localSize how many ranks this machine has, where the launcher says so
   */
  private record Launcher(String name, String rank, String size, String localSize) {}

  private static final List<Launcher> LAUNCHERS =
      List.of(
          new Launcher("torchrun", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
          new Launcher(
              "Open MPI",
              "OMPI_COMM_WORLD_RANK",
              "OMPI_COMM_WORLD_SIZE",
              "OMPI_COMM_WORLD_LOCAL_SIZE"),
          new Launcher("MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"),
          new Launcher("TrainJob", "PET_NODE_RANK", "PET_NNODES", ""),
          new Launcher("the Indexed Job", "JOB_COMPLETION_INDEX", "WORLD_SIZE", ""),
          new Launcher("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", ""));

  /**
   * What flags say instead of the environment.
   *
   * @param coordinator {@code HOST} or {@code HOST:PORT}
   */
  public record Stated(
      @Nullable Integer rank, @Nullable Integer worldSize, @Nullable String coordinator) {
    /** No flag. */
    public static final Stated NOTHING = new Stated(null, null, null);

    boolean isComplete() {
      return rank != null && worldSize != null;
    }
  }

  private final Map<String, String> environment;
  private final Stated stated;

  private RankEnvironment(Map<String, String> environment, Stated stated) {
    this.environment = environment;
    this.stated = stated;
  }

  /**
   * This process's rank.
   *
   * @throws BadInputException where variables are missing or contradict each other
   */
  public static LaunchedRank of(Map<String, String> environment, Stated stated) {
    return new RankEnvironment(environment, stated).rank();
  }

  private LaunchedRank rank() {
    Optional<Launcher> found =
        LAUNCHERS.stream().filter(launcher -> has(launcher.rank)).findFirst();
    if (found.isEmpty() && !stated.isComplete()) {
      throw new BadInputException(
          "--launcher env: no launcher has set a rank here (SLURM_PROCID, OMPI_COMM_WORLD_RANK,"
              + " PMI_RANK, RANK, PET_NODE_RANK or JOB_COMPLETION_INDEX); start with srun, mpirun"
              + " or torchrun, or give --rank, --world-size and --coordinator");
    }
    Launcher launcher = found.orElse(new Launcher("the command line", "", "", ""));
    if (launcher.name.equals("Slurm") && !has("SLURM_STEP_ID") && stated.rank == null) {
      throw new BadInputException(
          "--launcher env: Slurm runs a batch script once and not once per task; start the command"
              + " in it with srun");
    }
    int rank = stated.rank != null ? stated.rank : whole(launcher.rank);
    int size = stated.worldSize != null ? stated.worldSize : size(launcher);
    String name = stated.isComplete() ? "the command line" : launcher.name;
    return size == 1
        ? new LaunchedRank(rank, size, "", 0, name)
        : new LaunchedRank(rank, size, host(launcher, size), port(), name);
  }

  private int size(Launcher launcher) {
    String variable =
        launcher.name.equals("Slurm") && !has(launcher.size) ? "SLURM_NTASKS" : launcher.size;
    if (!has(variable)) {
      throw new BadInputException(
          "--launcher env: %s has set %s but not %s; set it, or give --world-size N"
              .formatted(launcher.name, launcher.rank, variable));
    }
    return whole(variable);
  }

  private String host(Launcher launcher, int size) {
    if (stated.coordinator != null) {
      return hostOf(stated.coordinator);
    }
    for (String variable : List.of("MASTER_ADDR", "PET_MASTER_ADDR")) {
      if (has(variable)) {
        return value(variable);
      }
    }
    if (has(launcher.localSize) && whole(launcher.localSize) == size) {
      return "127.0.0.1"; // all ranks are on this machine
    }
    for (String variable : List.of("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")) {
      if (has(variable)) {
        return HostList.first(variable, value(variable));
      }
    }
    throw new BadInputException(
        "--launcher env: %s does not say on which host rank 0 runs; set MASTER_ADDR, or give --coordinator HOST:PORT"
            .formatted(launcher.name));
  }

  private static String hostOf(String address) {
    int colon = address.lastIndexOf(':');
    String host = colon < 0 ? address : address.substring(0, colon);
    if (host.isBlank()) {
      throw notAnAddress(address);
    }
    return host;
  }

  private static BadInputException notAnAddress(String address) {
    return new BadInputException(
        "--coordinator: '%s' is no address; give HOST:PORT of rank 0".formatted(address));
  }

  private int port() {
    if (stated.coordinator != null && stated.coordinator.indexOf(':') >= 0) {
      String digits = stated.coordinator.substring(stated.coordinator.lastIndexOf(':') + 1);
      if (!digits.matches("\\d{1,5}") || !isPort(Integer.parseInt(digits))) {
        throw notAnAddress(stated.coordinator);
      }
      return Integer.parseInt(digits);
    }
    if (has("MASTER_PORT")) {
      boolean taken = value("TORCHELASTIC_USE_AGENT_STORE").equalsIgnoreCase("true"); // by torchrun
      return checked("MASTER_PORT", whole("MASTER_PORT") + (taken ? 1 : 0));
    }
    if (has("PET_MASTER_PORT")) {
      return checked("PET_MASTER_PORT", whole("PET_MASTER_PORT"));
    }
    if (has("SLURM_JOB_ID")) { // jobs and steps that share a node need ports of their own
      long step = has("SLURM_STEP_ID") ? whole("SLURM_STEP_ID") : 0;
      return (int) (FIRST_JOB_PORT + (whole("SLURM_JOB_ID") + STEPS_OF_JOB * step) % JOB_PORTS);
    }
    return USUAL_PORT;
  }

  private static int checked(String variable, int port) {
    if (!isPort(port)) {
      throw new BadInputException(
          "--launcher env: %s leaves no port for rank 0; give one below 65535, or --coordinator HOST:PORT"
              .formatted(variable));
    }
    return port;
  }

  private static boolean isPort(int port) {
    return port > 0 && port < PORTS;
  }

  private boolean has(String variable) {
    return !variable.isEmpty() && !environment.getOrDefault(variable, "").isBlank();
  }

  private String value(String variable) {
    return environment.getOrDefault(variable, "").strip();
  }

  private int whole(String variable) {
    try {
      return Integer.parseInt(value(variable));
    } catch (NumberFormatException e) {
      throw new BadInputException(
          "--launcher env: %s is '%s', which is no whole number; correct it, or give --rank, --world-size and --coordinator"
              .formatted(variable, value(variable)));
    }
  }
}
