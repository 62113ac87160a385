package dev.pipewright.app.cli.launch;

import dev.pipewright.formats.export.TrainJob;
import dev.pipewright.formats.file.BadInputException;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which of Kubernetes' kinds of jobs runs a training. */
public final class KubernetesFlags {
  /** A kind of job that starts several pods. */
  enum Kind {
    JOBSET,
    TRAINJOB
  }

  @Option(
      names = "--kind",
      paramLabel = "KIND",
      description =
          "With k8s: jobset, or trainjob for Kubeflow Trainer with its runtime torch-distributed."
              + " Default: jobset.")
  private @Nullable Kind kind;

  /** Throws where the flag is given for another system. */
  public void check(BatchSystem system) {
    if (kind != null && system != BatchSystem.K8S) {
      throw new BadInputException("--kind: Slurm has jobs of one kind; leave it out");
    }
  }

  /** Throws where the flag is given with another, which has jobs of one kind. */
  public void refuseWith(String other) {
    if (kind != null) {
      throw new BadInputException("--kind: does not go with %s; leave it out".formatted(other));
    }
  }

  /** The name of a job's file. */
  public String file(BatchSystem system) {
    return kind == Kind.TRAINJOB ? "trainjob.yaml" : system.file();
  }

  /** The file that runs a job. */
  public String text(BatchSystem system, LaunchedTraining job) {
    return kind == Kind.TRAINJOB
        ? new TrainJob(
                job.name(),
                job.nodes(),
                0,
                Optional.ofNullable(job.image()),
                Map.of("PIPEWRIGHT_TOKEN", BatchSystem.token(job)),
                job.gpusPerNode(),
                BatchSystem.script(job))
            .text()
        : system.text(job);
  }
}
