package dev.pipewright.app.cli.train;

import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Device;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.formats.file.BadInputException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How a run of several workers is made, whatever it is for. */
public final class RunOptions {
  @Mixin final WorkerOptions worker = new WorkerOptions();

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of parameters, samples and their order. Default: ${DEFAULT-VALUE}.")
  long seed;

  @Option(
      names = "--workers",
      paramLabel = "KIND",
      defaultValue = "processes",
      description =
          "What a worker is: processes, or threads of one process, for debugging. Default:"
              + " ${DEFAULT-VALUE}.")
  Workers workers = Workers.PROCESSES;

  @Option(
      names = "--device",
      paramLabel = "KIND",
      defaultValue = "cpu",
      description =
          "cpu, or cuda: one GPU per worker, with all-reduces over NCCL; needs"
              + " PIPEWRIGHT_TORCH=gpu. Not tested on several GPUs yet. Default: ${DEFAULT-VALUE}.")
  private Device device = Device.CPU;

  /** With what each worker computes. */
  Computing computing() {
    if (device == Device.CUDA && workers == Workers.THREADS) {
      throw new BadInputException(
          "--device cuda: threads share a process and so a GPU; leave out --workers threads");
    }
    return new Computing(device, worker.threads(), false);
  }
}
