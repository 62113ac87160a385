package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.model.Optimizer;
import picocli.CommandLine.Option;

/** With what a worker of the runtime computes. */
final class WorkerOptions {
  @Option(
      names = "--data",
      paramLabel = "DATA",
      defaultValue = "synthetic",
      description =
          "synthetic[:KIND][,samples=N,classes=N], cifar10:DIR, mnist:DIR, images:DIR or text:FILE."
              + " Default: samples that we make for the network, which can be learnt.")
  private String data = "";

  @Option(
      names = "--optimizer",
      paramLabel = "NAME",
      defaultValue = "momentum",
      description = "sgd, momentum or adam. Default: ${DEFAULT-VALUE}.")
  private Optimizer optimizer = Optimizer.MOMENTUM;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "1",
      description = "That each worker computes with. Default: ${DEFAULT-VALUE}.")
  private int threads;

  String data() {
    return data;
  }

  Optimizer optimizer() {
    if (optimizer == Optimizer.RMSPROP) {
      throw new BadInputException(
          "--optimizer: rmsprop is not trained with; give sgd, momentum or adam");
    }
    return optimizer;
  }

  int threads() {
    return AtLeast.one("--threads", threads);
  }
}
