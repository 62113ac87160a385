package dev.pipewright.formats.export;

import dev.pipewright.formats.export.LaunchExport.Launcher;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Files that start a program under {@code torchrun} on all nodes of a plan.
 *
 * <p>Sources: Slurm's {@code sbatch}; Kubeflow Trainer {@code trainer.kubeflow.org/v1alpha1};
 * JobSet {@code jobset.x-k8s.io/v1alpha2}, of 2026.
 */
final class Launchers {
  static final Launcher SBATCH = new Launcher("train.sbatch", "Slurm", Launchers::sbatch);
  static final Launcher TRAINJOB = new Launcher("trainjob.yaml", "TrainJob", Launchers::trainJob);
  static final Launcher JOBSET = new Launcher("jobset.yaml", "JobSet", Launchers::jobSet);

  private static final int MOST_OF_NAME = 40; // a service's name has 63

  private Launchers() {}

  private static String sbatch(ExportSubject plan, LaunchCommand command) {
    return """
    #!/bin/bash
    #SBATCH --job-name=%s
    #SBATCH --nodes=%d
    #SBATCH --ntasks-per-node=1
    #SBATCH --gpus-per-node=%d
    #SBATCH --exclusive
    #SBATCH --distribution=block:block
    set -euo pipefail
    %shead=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
    srun torchrun --nnodes "$SLURM_NNODES" --nproc-per-node %d --rdzv-backend c10d \\
      --rdzv-endpoint "$head:29500" --rdzv-id "$SLURM_JOB_ID" \\
      %s
    """
        .formatted(
            name(plan),
            plan.nodes(),
            plan.usedPerNode(),
            setup(command),
            plan.usedPerNode(),
            command.program());
  }

  /** What a shell reads before the program, with a line's end. */
  private static String setup(LaunchCommand command) {
    return command.setup().stream().map(line -> line + "\n").collect(Collectors.joining());
  }

  private static String trainJob(ExportSubject plan, LaunchCommand command) {
    return """
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata:
      name: %s
    spec:
      runtimeRef:
        apiGroup: trainer.kubeflow.org
        kind: ClusterTrainingRuntime
        name: torch-distributed
      trainer:
        numNodes: %d
        numProcPerNode: %d
        resourcesPerNode:
          limits:
            nvidia.com/gpu: %d
        command:
          - bash
          - -c
          - |
    %s\
    """
        .formatted(
            name(plan),
            plan.nodes(),
            plan.usedPerNode(),
            plan.usedPerNode(),
            indented(8, setup(command) + "torchrun " + command.program() + "\n"));
  }

  private static String jobSet(ExportSubject plan, LaunchCommand command) {
    String name = name(plan);
    String run =
        "torchrun --nnodes=%d --nproc-per-node=%d --node-rank=$RANK"
            .formatted(plan.nodes(), plan.usedPerNode());
    return """
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata:
      name: %1$s
    spec:
      replicatedJobs:
        - name: workers
          template:
            spec:
              parallelism: %2$d
              completions: %2$d
              completionMode: Indexed
              backoffLimit: 0
              template:
                spec:
                  restartPolicy: Never
                  containers:
                    - name: train
                      image: nvcr.io/nvidia/pytorch:25.08-py3
                      ports:
                        - containerPort: 29500
                      env:
                        - name: MASTER_ADDR
                          value: "%1$s-workers-0-0.%1$s"
                        - name: MASTER_PORT
                          value: "29500"
                        - name: RANK
                          valueFrom:
                            fieldRef:
                              fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']
                      resources:
                        limits:
                          nvidia.com/gpu: %3$d
                      command:
                        - bash
                        - -c
                        - |
    %4$s\
    """
        .formatted(
            name,
            plan.nodes(),
            plan.usedPerNode(),
            indented(
                22,
                setup(command)
                    + run
                    + " --master-addr=$MASTER_ADDR --master-port=$MASTER_PORT \\\n  "
                    + command.program()
                    + "\n"));
  }

  private static String indented(int blanks, String text) {
    return text.lines().map(line -> " ".repeat(blanks) + line + "\n").collect(Collectors.joining());
  }

  /** The network's name as Kubernetes and Slurm take it. */
  private static String name(ExportSubject plan) {
    List<String> parts = List.of(plan.model().split("[/\\\\]"));
    String plain =
        parts
            .get(parts.size() - 1)
            .toLowerCase(Locale.ROOT)
            .replaceAll("[^a-z0-9]+", "-")
            .replaceAll("^-+", "");
    String cut = plain.substring(0, Math.min(MOST_OF_NAME, plain.length()));
    return ("train-" + cut).replaceAll("-+$", "");
  }
}
