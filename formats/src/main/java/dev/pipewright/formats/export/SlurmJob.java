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
