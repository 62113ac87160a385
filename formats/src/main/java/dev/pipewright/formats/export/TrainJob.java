package dev.pipewright.formats.export;

import java.util.Map;
import java.util.Optional;

/**
 * Pods of the same container as a TrainJob of Kubeflow Trainer v2 ({@code
 * trainer.kubeflow.org/v1alpha1}, of 2026) with its runtime {@code torch-distributed}, which says
 * rank, number of pods and host of the first one in {@code PET_*}.
 *
 * @param processes that {@code torchrun} starts in each pod; 0 where it does not start any
 * @param image of the container; the runtime's where empty
 * @param variables further ones, with lines of YAML that say their values
 * @param gpus of each pod; 0 for none
 * @param script what bash runs, each line ended by a newline
 */
public record TrainJob(
    String name,
    int pods,
    int processes,
    Optional<String> image,
    Map<String, String> variables,
    int gpus,
    String script) {
  /** The manifest. */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append(
        """
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
        """
            .formatted(name, pods));
    if (processes > 0) {
      text.append("    numProcPerNode: %d\n".formatted(processes));
    }
    image.ifPresent(said -> text.append("    image: ").append(said).append('\n'));
    if (gpus > 0) {
      text.append("    resourcesPerNode:\n      limits:\n");
      text.append("        nvidia.com/gpu: %d\n".formatted(gpus));
    }
    if (!variables.isEmpty()) {
      text.append("    env:\n");
      variables.forEach((variable, value) ->
          text.append("      - name: %s\n".formatted(variable)).append(JobSet.indented(8, value)));
    }
    return text.append("    command:\n      - bash\n      - -c\n      - |\n")
        .append(JobSet.indented(8, script))
        .toString();
  }
}
