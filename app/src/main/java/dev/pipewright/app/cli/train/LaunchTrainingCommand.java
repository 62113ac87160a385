package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.launch.BatchSystem;
import dev.pipewright.app.cli.launch.KubernetesFlags;
import dev.pipewright.app.cli.launch.LaunchedTraining;
import dev.pipewright.app.cli.terminal.ParseMistakes;
import dev.pipewright.formats.export.JobNames;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

@Command(
    name = "launch",
    description =
        "Writes the job that runs `train` on the nodes of a cluster, one rank on each, or a sweep of"
            + " `plan` as a job array, and submits it.",
    footer = {
      "",
      "What follows -- is the command line of `train`. With --out and --checkpoint-every, a job that",
      "Slurm stops before its time limit, or preempts, is requeued and goes on from its last",
      "checkpoint.",
      "",
      "Examples:",
      "  pipewright launch slurm --submit -- PLAN.json --steps 900 --checkpoint-every 50 --out run",
      "  pipewright launch k8s --image registry/pipewright:1 -- PLAN.json --steps 900 --out /run",
      "  pipewright launch slurm --sweep study.yaml --array 8 --submit -- --out study"
    })
public final class LaunchTrainingCommand implements Callable<Integer> {
  private static final String NAME = "[a-z]([-a-z0-9]{0,38}[a-z0-9])?";
  private static final String TIME = "\\d+(-\\d+(:\\d+){0,2}|(:\\d+){0,2})";

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "slurm|k8s",
      description = "What runs jobs: Slurm, or Kubernetes with JobSet or TrainJob.")
  private BatchSystem system = BatchSystem.SLURM;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "-- TRAIN",
      description = "The command line of `train`: a plan or a network, and flags.")
  private List<String> training = List.of();

  @Mixin private SweepJobFlags sweep = new SweepJobFlags();
  @Mixin private KubernetesFlags kubernetes = new KubernetesFlags();

  @Option(
      names = "--nodes",
      paramLabel = "N",
      description = "Nodes of the job, which share the workers evenly. Default: 1.")
  private @Nullable Integer nodes;

  @Option(
      names = "--requeue-plan",
      description =
          "Start with fewer nodes than --nodes where a requeued job gets no more, under a plan for"
              + " those that are left. Slurm; needs a plan that says its cluster.")
  private boolean requeuePlan;

  @Option(
      names = "--min-nodes",
      paramLabel = "N",
      description = "Fewest nodes with --requeue-plan. Default: 1.")
  private @Nullable Integer minNodes;

  @Option(
      names = "--time",
      paramLabel = "TIME",
      description =
          "Slurm's time limit, such as 8:00:00. The run is ended with a checkpoint before, as early as"
              + " the grace demands.")
  private @Nullable String time;

  @Option(
      names = "--grace",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "How long a run may take to end with a checkpoint. Default: ${DEFAULT-VALUE}.")
  private int grace;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Name of the job. Default: train- and the network's name.")
  private @Nullable String name;

  @Option(
      names = "--image",
      paramLabel = "IMAGE",
      description = "Container image with Pipewright, for Kubernetes.")
  private @Nullable String image;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Write the job's file there. Default: print it.")
  private @Nullable Path out;

  @Option(names = "--submit", description = "Submit the job with sbatch or kubectl.")
  private boolean submit;

  LaunchTrainingCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    check();
    if (sweep.file().isPresent()) {
      if (nodes != null) {
        throw new BadInputException("--nodes: each task of a sweep has one node; give --array N");
      }
      kubernetes.refuseWith("--sweep");
      CommandLine plan = Objects.requireNonNull(root().getSubcommands().get("plan"));
      return written(system.sweepFile(), system.text(sweep.job(plan, training, name, time, image)));
    }
    return written(kubernetes.file(system), trainingJob());
  }

  private String trainingJob() {
    if (training.isEmpty()) {
      throw new BadInputException(
          "TRAIN is missing; write what `train` is to do after --, or give --sweep FILE.yaml");
    }
    TrainCommand.Planned planned = planned();
    int count = AtLeast.few("--nodes", nodes, 1);
    if (count > planned.workers()) {
      throw new BadInputException(
          "--nodes: the run has %d workers, which %d nodes cannot share; give at most as many"
              .formatted(planned.workers(), count));
    }
    if (system == BatchSystem.K8S) {
      PlannedNodes.requireSame(planned.plan(), count);
    }
    LaunchedTraining job =
        new LaunchedTraining(
            name == null ? JobNames.of("train", planned.model()) : name,
            count,
            planned.workers(),
            planned.threads(),
            training,
            planned.resumable(),
            grace,
            leastNodes(count, planned),
            time,
            image,
            planned.cuda());
    return kubernetes.text(system, job);
  }

  private int leastNodes(int count, TrainCommand.Planned planned) {
    if (!requeuePlan) {
      if (minNodes != null) {
        throw new BadInputException("--min-nodes: is for another plan; add --requeue-plan");
      }
      return count;
    }
    if (system == BatchSystem.K8S) {
      throw new BadInputException("--requeue-plan: a JobSet always has all its pods; leave it out");
    }
    if (planned.resumable().isEmpty()) {
      throw new BadInputException(
          "--requeue-plan: the run writes no checkpoints to go on from; add --out and"
              + " --checkpoint-every to the command line of train");
    }
    planned.replanned().accept(count);
    int least = AtLeast.few("--min-nodes", minNodes, 1);
    if (least >= count) {
      throw new BadInputException(
          "--min-nodes: %d of %d nodes leave no other plan; give fewer, or more --nodes"
              .formatted(least, count));
    }
    return least;
  }

  private int written(String file, String text) {
    PrintWriter to = spec.commandLine().getOut();
    try (OutputFolder folder = OutputFolder.of(out, file)) {
      if (folder != null) {
        folder.write(file, text);
        spec.commandLine().getErr().println("wrote " + file + " to " + folder);
      } else if (!submit) {
        to.print(text);
      }
    }
    return submit ? submitted(text) : 0;
  }

  private void check() {
    kubernetes.check(system);
    AtLeast.one("--grace", grace);
    if (name != null && !name.matches(NAME)) {
      throw new BadInputException(
          "--name: '%s' is no name of a job; give up to 40 small letters, digits and hyphens"
              .formatted(name));
    }
    if (time != null && !time.matches(TIME)) {
      throw new BadInputException(
          "--time: '%s' is no time limit of Slurm; give one like 90 (minutes), 8:00:00 or 1-12:00"
              .formatted(time));
    }
    if (system == BatchSystem.K8S && time != null) {
      throw new BadInputException("--time: Kubernetes has no time limit of jobs; leave it out");
    }
    if (system == BatchSystem.SLURM && image != null) {
      throw new BadInputException("--image: Slurm starts no containers; leave it out");
    }
    if (system == BatchSystem.K8S && image == null) {
      throw new BadInputException("--image is missing; give a container image with Pipewright");
    }
  }

  private CommandLine root() {
    return spec.commandLine().getParent();
  }

  /** What the command line of `train` asks for; its mistakes are said as `train` would. */
  private TrainCommand.Planned planned() {
    CommandLine train = Objects.requireNonNull(root().getSubcommands().get("train"));
    ParseResult parsed = train.parseArgs(training.toArray(String[]::new));
    List<String> mistakes = ParseMistakes.of(parsed).sentences();
    if (!mistakes.isEmpty()) {
      throw new BadInputException("train: " + mistakes.get(0) + "; `train --help` lists its flags");
    }
    TrainCommand command = train.getCommand();
    return command.planned();
  }

  private int submitted(String text) {
    List<String> command = system.submission();
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectOutput(ProcessBuilder.Redirect.INHERIT);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    try {
      Process process = builder.start();
      process.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().close();
      return process.waitFor();
    } catch (IOException e) {
      throw new BadInputException(
          "--submit: %s cannot be started here; leave it out, and submit the file where it can"
              .formatted(command.get(0)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    }
  }
}
