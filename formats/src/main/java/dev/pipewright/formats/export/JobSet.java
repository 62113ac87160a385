package dev.pipewright.formats.export;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Pods of the same container, numbered from 0, as a JobSet of Kubernetes ({@code
 * jobset.x-k8s.io/v1alpha2}, of 2026). The first one is the coordinator, which the others find by
 * the name that the JobSet gives it.
 *
 * @param image of the container
 * @param port at which the first pod listens
 * @param index the variable that has a pod's number
 * @param variables further ones, with lines of YAML that say their values
 * @param gpus of each pod; 0 for none
 * @param script what bash runs, each line ended by a newline
 */
public record JobSet(
    String name,
    int pods,
    String image,
    int port,
    String index,
    Map<String, String> variables,
    int gpus,
    int restarts,
    String script) {
  private static final String NUMBER =
      "metadata.annotations['batch.kubernetes.io/job-completion-index']";

  /** The manifest. */
  public String text() {
    return """
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata:
      name: %1$s
    spec:
    %9$s\
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
                      image: %3$s
                      ports:
                        - containerPort: %4$d
                      env:
                        - name: MASTER_ADDR
                          value: "%1$s-workers-0-0.%1$s"
                        - name: MASTER_PORT
                          value: "%4$d"
                        - name: %5$s
                          valueFrom:
                            fieldRef:
                              fieldPath: %6$s
    %7$s\
    %10$s\
                      command:
                        - bash
                        - -c
                        - |
    %8$s\
    """
        .formatted(
            name,
            pods,
            image,
            port,
            index,
            NUMBER,
            furtherVariables(),
            indented(22, script),
            restarts > 0 ? "  failurePolicy:\n    maxRestarts: %d\n".formatted(restarts) : "",
            gpus > 0
                ? "                  resources:\n                    limits:\n"
                    + "                      nvidia.com/gpu: %d\n".formatted(gpus)
                : "");
  }

  private String furtherVariables() {
    StringBuilder text = new StringBuilder();
    variables.forEach((variable, value) -> {
      text.append("                    - name: ").append(variable).append('\n');
      text.append(indented(22, value));
    });
    return text.toString();
  }

  static String indented(int blanks, String text) {
    return indented(blanks, text.lines().toList());
  }

  private static String indented(int blanks, List<String> lines) {
    return lines.stream()
        .map(line -> " ".repeat(blanks) + line + "\n")
        .collect(Collectors.joining());
  }
}
