package dev.pipewright.app.cli.launch;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A training run to start on the nodes of a cluster.
 *
 * @param name of the job
 * @param threads of each worker
 * @param arguments of {@code train}
 * @param folder that holds its checkpoints, where it writes any
 * @param grace seconds that it may take to end with a checkpoint
 * @param leastNodes with which it goes on under another plan; as many as nodes where it does not
 * @param time Slurm's limit
 * @param image of Kubernetes' container
 * @param cuda whether each worker computes with a GPU
 */
public record LaunchedTraining(
    String name,
    int nodes,
    int workers,
    int threads,
    List<String> arguments,
    Optional<String> folder,
    int grace,
    int leastNodes,
    @Nullable String time,
    @Nullable String image,
    boolean cuda) {
  public LaunchedTraining {
    arguments = List.copyOf(arguments);
  }

  /** Most workers of a node. */
  int perNode() {
    return (workers + nodes - 1) / nodes;
  }

  /** GPUs that a node must have. */
  int gpusPerNode() {
    return cuda ? perNode() : 0;
  }

  /** The command of every rank, as bash reads it. */
  String command() {
    return "pipewright train "
        + arguments.stream().map(LaunchedTraining::quoted).collect(Collectors.joining(" "))
        + " --launcher env --workers-per-rank %d --grace %d".formatted(perNode(), grace)
        + (leastNodes < nodes ? " --replan" : "");
  }

  /** A word in single quotes where bash would read it as more than a word. */
  static String quoted(String word) {
    return word.matches("[-\\w./:,=@%+]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
