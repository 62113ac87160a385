package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Optimizer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** With what a worker of the runtime computes. */
public final class WorkerOptions {
  @Option(
      names = "--data",
      paramLabel = "DATA",
      defaultValue = "synthetic",
      description =
          "synthetic[:KIND][,samples=N,classes=N], cifar10:DIR, mnist:DIR, images:DIR or"
              + " text:FILE. Default: synthetic samples for the network, which it can learn.")
  private String data = "";

  @Option(
      names = "--optimizer",
      paramLabel = "NAME",
      description =
          "sgd, momentum or adam. Default: the plan's or the network's own, which is momentum for"
              + " perceptrons and convolutions, and adam for all others and for files.")
  private @Nullable Optimizer optimizer;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "1",
      description = "Threads that each worker computes with. Default: ${DEFAULT-VALUE}.")
  private int threads;

  private static final int MOST_THREADS = 4096;

  String data() {
    return data;
  }

  /**
   * The one that is asked for.
   *
   * @param usual the network's own otherwise
   */
  Optimizer optimizer(Optimizer usual) {
    Optimizer chosen = optimizer == null ? usual : optimizer;
    if (chosen == Optimizer.RMSPROP) {
      throw new BadInputException(
          "--optimizer: rmsprop is not trained with; give sgd, momentum or adam");
    }
    return chosen;
  }

  int threads() {
    return (int) AtLeast.within("--threads", threads, 1, MOST_THREADS);
  }
}
