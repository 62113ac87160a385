package dev.pipewright.formats.export;

import dev.pipewright.formats.export.LaunchExport.Launcher;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Files that start a program under {@code torchrun} on all nodes of a plan.
 *
 * <p>Sources: Slurm's {@code sbatch}; Kubeflow Trainer {@code trainer.kubeflow.org/v1alpha1};
 * JobSet {@code jobset.x-k8s.io/v1alpha2}, of 2026.
 */
final class Launchers {
  static final Launcher SBATCH =
      new Launcher(
          "train.sbatch",
          "Slurm",
          "Add --account, --partition and --time where your cluster asks for them.",
          Launchers::sbatch);
  static final Launcher TRAINJOB =
      new Launcher(
          "trainjob.yaml",
          "TrainJob",
          "Add an image with the program and volumes with data and checkpoints.",
          Launchers::trainJob);
  static final Launcher JOBSET =
      new Launcher(
          "jobset.yaml",
          "JobSet",
          "Add an image with the program and volumes with data and checkpoints.",
          Launchers::jobSet);

  private Launchers() {}

  private static String sbatch(ExportSubject plan, LaunchCommand command, String head) {
    String body =
        """
        %s%shead=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
        srun torchrun --nnodes "$SLURM_NNODES" --nproc-per-node %d --rdzv-backend c10d \\
          --rdzv-endpoint "$head:29500" --rdzv-id "$SLURM_JOB_ID" \\
          %s
        """
            .formatted(head, setup(command), plan.usedPerNode(), command.program());
    List<String> options =
        List.of(
            "--gpus-per-node=" + plan.usedPerNode(), "--exclusive", "--distribution=block:block");
    return new SlurmJob(name(plan), plan.nodes(), options, body).text();
  }

  /** What a shell reads before the program, with a line's end. */
  private static String setup(LaunchCommand command) {
    return command.setup().stream().map(line -> line + "\n").collect(Collectors.joining());
  }

  private static String trainJob(ExportSubject plan, LaunchCommand command, String head) {
    return head
        + new TrainJob(
                name(plan),
                plan.nodes(),
                plan.usedPerNode(),
                Optional.empty(),
                Map.of(),
                plan.usedPerNode(),
                setup(command) + "torchrun " + command.program() + "\n")
            .text();
  }

  private static String jobSet(ExportSubject plan, LaunchCommand command, String head) {
    String run =
        "torchrun --nnodes=%d --nproc-per-node=%d --node-rank=$RANK"
            .formatted(plan.nodes(), plan.usedPerNode());
    String script =
        setup(command)
            + run
            + " --master-addr=$MASTER_ADDR --master-port=$MASTER_PORT \\\n  "
            + command.program()
            + "\n";
    return head
        + new JobSet(
                name(plan),
                plan.nodes(),
                "nvcr.io/nvidia/pytorch:25.08-py3",
                29_500,
                "RANK",
                Map.of(),
                plan.usedPerNode(),
                0,
                script)
            .text();
  }

  /** The network's name as Kubernetes and Slurm take it. */
  private static String name(ExportSubject plan) {
    return JobNames.of("train", plan.model());
  }
}
