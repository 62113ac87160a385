package dev.pipewright.app.cli.launch;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A sweep of {@code plan} whose shards are the tasks of a job array.
 *
 * @param name of the job
 * @param tasks shards
 * @param arguments of {@code plan}, without the shard
 * @param jobs points that a task plans at the same time
 * @param time Slurm's limit
 * @param image of Kubernetes' container
 */
public record LaunchedSweep(
    String name,
    int tasks,
    List<String> arguments,
    int jobs,
    @Nullable String time,
    @Nullable String image) {
  public LaunchedSweep {
    arguments = List.copyOf(arguments);
  }

  /**
   * The command of a task, as bash reads it.
   *
   * @param shard which of how many, with variables of the batch system
   */
  String command(String shard) {
    return "pipewright plan "
        + arguments.stream().map(LaunchedTraining::quoted).collect(Collectors.joining(" "))
        + " --jobs %d --shard \"%s\"\n".formatted(jobs, shard);
  }
}
