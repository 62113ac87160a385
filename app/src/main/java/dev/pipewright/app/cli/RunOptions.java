package dev.pipewright.app.cli;

import dev.pipewright.execution.TrainingRequest.Workers;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How a run of several workers is made, whatever it is for. */
final class RunOptions {
  @Mixin final WorkerOptions worker = new WorkerOptions();

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Of parameters, samples and their order. Default: ${DEFAULT-VALUE}.")
  long seed;

  @Option(
      names = "--workers",
      paramLabel = "KIND",
      defaultValue = "processes",
      description = "processes, or threads of one process to look on. Default: ${DEFAULT-VALUE}.")
  Workers workers = Workers.PROCESSES;
}
