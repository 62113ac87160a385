package dev.pipewright.formats.export;

/**
 * Pods that share work without talking to each other, as an Indexed Job of Kubernetes ({@code
 * batch/v1}). Each finds its number, from 0 on, in {@code JOB_COMPLETION_INDEX}; one that fails is
 * replaced by another with the same number.
 *
 * @param pods how many there are, all at the same time
 * @param image of the container
 * @param retries of failed pods in all
 * @param script what bash runs, each line ended by a newline
 */
public record IndexedJob(String name, int pods, String image, int retries, String script) {
  /** The manifest. */
  public String text() {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: %1$s
    spec:
      parallelism: %2$d
      completions: %2$d
      completionMode: Indexed
      backoffLimit: %4$d
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: plan
              image: %3$s
              command:
                - bash
                - -c
                - |
    %5$s\
    """
        .formatted(name, pods, image, retries, JobSet.indented(14, script));
  }
}
