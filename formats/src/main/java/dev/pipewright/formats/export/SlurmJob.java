package dev.pipewright.formats.export;

import java.util.ArrayList;
import java.util.List;

/**
 * A batch script of Slurm with one task per node.
 *
 * @param name of the job
 * @param options of {@code sbatch} in addition, such as {@code --exclusive}
 * @param body what the script runs, each line ended by a newline
 */
public record SlurmJob(String name, int nodes, List<String> options, String body) {
  public SlurmJob {
    options = List.copyOf(options);
  }

  /**
   * The script of a job array, whose tasks count from 1 and each have one node.
   *
   * @param tasks how many there are
   * @param options of {@code sbatch} in addition
   * @param body what each task runs, each line ended by a newline
   */
  public static SlurmJob array(String name, int tasks, List<String> options, String body) {
    List<String> all = new ArrayList<>();
    all.add("--array=1-" + tasks);
    all.addAll(options);
    return new SlurmJob(name, 1, all, body);
  }

  /** The script. */
  public String text() {
    List<String> all = new ArrayList<>();
    all.add("--job-name=" + name);
    all.add("--nodes=" + nodes);
    all.add("--ntasks-per-node=1");
    all.addAll(options);
    StringBuilder text = new StringBuilder("#!/bin/bash\n");
    all.forEach(option -> text.append("#SBATCH ").append(option).append('\n'));
    return text.append("set -euo pipefail\n").append(body).toString();
  }
}
