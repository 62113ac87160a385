package dev.pipewright.app.cli.launch;

import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.formats.export.IndexedJob;
import dev.pipewright.formats.export.JobSet;
import dev.pipewright.formats.export.SlurmJob;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What runs jobs on a cluster. */
public enum BatchSystem {
  /** Slurm, by a script of {@code sbatch}. */
  SLURM {
    @Override
    public String file() {
      return "train.sbatch";
    }

    @Override
    public List<String> submission() {
      return List.of("sbatch");
    }

    // --signal without B: reaches the ranks and not the script, which then sees how they ended
    @Override
    public String text(LaunchedTraining job) {
      List<String> options = new ArrayList<>();
      options.add("--cpus-per-task=" + job.perNode() * job.threads());
      if (job.time() != null) {
        options.add("--time=" + job.time());
        options.add("--signal=TERM@" + (job.grace() + MARGIN));
      }
      options.add("--open-mode=append");
      if (job.folder().isPresent()) {
        options.add("--requeue");
      }
      return new SlurmJob(job.name(), job.leastNodes(), job.nodes(), options, body(job)).text();
    }

    @Override
    public String sweepFile() {
      return "sweep.sbatch";
    }

    @Override
    public String text(LaunchedSweep sweep) {
      List<String> options = new ArrayList<>();
      options.add("--cpus-per-task=" + sweep.jobs());
      if (sweep.time() != null) {
        options.add("--time=" + sweep.time());
      }
      options.add("--open-mode=append");
      options.add("--requeue");
      String shard = "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT";
      return SlurmJob.array(sweep.name(), sweep.tasks(), options, "exec " + sweep.command(shard))
          .text();
    }

    private String body(LaunchedTraining job) {
      String token = "export PIPEWRIGHT_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')\n";
      String srun =
          "srun --kill-on-bad-exit=0 "
              + (job.leastNodes() < job.nodes() ? "--ntasks-per-node=1 " : "");
      if (job.folder().isEmpty()) {
        return token + srun + job.command() + "\n";
      }
      return token
          + resuming(job)
          + """
          status=0
          %s%s "${resume[@]}" || status=$?
          if [ "$status" -eq %d ]; then scontrol requeue "$SLURM_JOB_ID"; fi
          exit "$status"
          """
              .formatted(srun, job.command(), Failures.REQUEUE);
    }
  },

  /** Kubernetes, by a JobSet. */
  K8S {
    @Override
    public String file() {
      return "jobset.yaml";
    }

    @Override
    public List<String> submission() {
      return List.of("kubectl", "apply", "-f", "-");
    }

    @Override
    public String sweepFile() {
      return "sweep.yaml";
    }

    @Override
    public String text(LaunchedSweep sweep) {
      String shard = "$((JOB_COMPLETION_INDEX + 1))/" + sweep.tasks();
      return new IndexedJob(
              sweep.name(),
              sweep.tasks(),
              Objects.requireNonNull(sweep.image()),
              RESTARTS,
              "exec " + sweep.command(shard))
          .text();
    }

    // its pods read the token from a secret of its name
    @Override
    public String text(LaunchedTraining job) {
      Map<String, String> variables = new LinkedHashMap<>();
      variables.put("WORLD_SIZE", "value: \"" + job.nodes() + "\"\n");
      variables.put("PIPEWRIGHT_TOKEN", token(job));
      return new JobSet(
              job.name(),
              job.nodes(),
              Objects.requireNonNull(job.image()),
              RankEnvironment.USUAL_PORT,
              "RANK",
              variables,
              job.gpusPerNode(),
              job.folder().isEmpty() ? 0 : RESTARTS,
              script(job))
          .text();
    }
  };

  private static final int MARGIN = 15; // seconds for the script to requeue the job
  private static final int RESTARTS = 10;

  /** The value of a pod's token, from a secret that has the job's name. */
  static String token(LaunchedTraining job) {
    return "valueFrom:\n  secretKeyRef:\n    name: %s-token\n    key: token\n"
        .formatted(job.name());
  }

  /** What bash runs in a pod. */
  static String script(LaunchedTraining job) {
    return job.folder().isEmpty()
        ? "exec " + job.command() + "\n"
        : resuming(job) + "exec " + job.command() + " \"${resume[@]}\"\n";
  }

  /** The name of a job's file. */
  public abstract String file();

  /** A command that submits the job which it reads. */
  public abstract List<String> submission();

  /** The file that runs a job. */
  public abstract String text(LaunchedTraining job);

  /** The name of the file of a sweep's job. */
  public abstract String sweepFile();

  /** The file that runs the shards of a sweep. */
  public abstract String text(LaunchedSweep sweep);

  /** Lines that give {@code --resume} where an earlier start has written a checkpoint. */
  private static String resuming(LaunchedTraining job) {
    String folder = LaunchedTraining.quoted(job.folder().orElseThrow());
    return """
    resume=()
    if compgen -G %1$s/checkpoints/'step-*' > /dev/null; then resume=(--resume %1$s); fi
    """
        .formatted(folder);
  }
}
