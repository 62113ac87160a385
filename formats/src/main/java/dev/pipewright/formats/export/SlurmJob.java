package dev.pipewright.formats.export;

import java.util.ArrayList;
import java.util.List;

/**
 * A batch script of Slurm with one task per node. Of a range of nodes, Slurm gives as many as there
 * are to jobs whose nodes are exclusive and which do not state their tasks.
 *
 * @param name of the job
 * @param least nodes with which it starts where there are no more
 * @param nodes that it wants
 * @param options of {@code sbatch} in addition, such as {@code --exclusive}
 * @param body what the script runs, each line ended by a newline
 */
public record SlurmJob(String name, int least, int nodes, List<String> options, String body) {
  public SlurmJob {
    options = List.copyOf(options);
  }

  /** A script that starts with all its nodes. */
  public SlurmJob(String name, int nodes, List<String> options, String body) {
    this(name, nodes, nodes, options, body);
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
    all.add("--nodes=" + (least < nodes ? least + "-" : "") + nodes);
    all.add(least < nodes ? "--exclusive" : "--ntasks-per-node=1");
    all.addAll(options);
    StringBuilder text = new StringBuilder("#!/bin/bash\n");
    all.forEach(option -> text.append("#SBATCH ").append(option).append('\n'));
    return text.append("set -euo pipefail\n").append(body).toString();
  }
}
