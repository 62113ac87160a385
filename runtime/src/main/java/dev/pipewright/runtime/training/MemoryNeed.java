package dev.pipewright.runtime.training;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.execution.NotEnoughMemoryException;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Device;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Assignment;
import dev.pipewright.predict.run.RunPrediction;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Precision;
import dev.pipewright.units.Seconds;
import dev.pipewright.units.Units;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * What the workers of a run will hold in memory, as the oracle predicts it, against what this
 * machine has free.
 */
final class MemoryNeed {
  /** A worker process without tensors: Java and libtorch. */
  static final long PROCESS_BYTES = 200L << 20;

  private static final Path FREE = Path.of("/proc/meminfo");

  private MemoryNeed() {}

  /**
   * Throws {@link NotEnoughMemoryException} where memory would run out and the user does not
   * insist.
   */
  static void check(TrainingRequest request, LayerGraph graph) {
    if (request.emulates()) {
      return; // whose tensors are few
    }
    if (request.execution().computing().device() == Device.CUDA) {
      return; // whose memory only a worker can ask for
    }
    available().ifPresent(free -> check(request, bytes(request, graph), free));
  }

  static void check(TrainingRequest request, double needed, long free) {
    int workers = here(request);
    if (needed > free && !request.execution().force()) {
      throw new NotEnoughMemoryException(
          ("%s will need %s of memory, but this machine has %s free; take a smaller batch or"
                  + " network, more micro-batches or recomputation, or insist with --force")
              .formatted(
                  workers == 1 ? "the worker" : "the %d workers".formatted(workers),
                  Units.binary(needed, "B"),
                  Units.binary((double) free, "B")));
    }
  }

  private static int here(TrainingRequest request) {
    return request.assignment().size() - request.execution().machines().elsewhere();
  }

  /** Bytes of all workers on this machine together. */
  static double bytes(TrainingRequest request, LayerGraph graph) {
    Assignment assignment = request.assignment();
    Training training = new Training(request.learning().rule().kind(), Precision.FP32);
    Cluster cluster = anyDevices(assignment.size());
    Profile profile = Roofline.profile(graph, cluster, training, List.of(1));
    Workload workload = new Workload(Chain.of(graph), profile, training, cluster);
    double[] peaks = new RunPrediction(new StageCosts(workload), assignment).peakBytes();
    double sum = 0;
    int left = here(request);
    for (int rank = 0; rank < peaks.length; rank++) {
      int workers = Math.min(left, assignment.workers().get(rank));
      left -= workers;
      boolean processes = request.execution().workers() == TrainingRequest.Workers.PROCESSES;
      sum += workers * (peaks[rank] + (processes ? PROCESS_BYTES : 0));
    }
    return sum;
  }

  /** Their speed is of no account here. */
  private static Cluster anyDevices(int count) {
    DeviceKind kind =
        new DeviceKind(
            "any",
            new Bytes(Long.MAX_VALUE),
            new FlopsPerSecond(1e12),
            new FlopsPerSecond(1e12),
            new BytesPerSecond(1e11));
    Link link = new Link(new Seconds(0), new BytesPerSecond(1e10));
    return Cluster.uniform("any", kind, List.of(new Level("any", link, link)), count);
  }

  /** What this machine can give; none where it does not say. */
  private static OptionalLong available() {
    try {
      for (String line : Files.readAllLines(FREE)) {
        if (line.startsWith("MemAvailable:")) {
          String kibibytes = line.substring("MemAvailable:".length()).replace("kB", "").strip();
          return OptionalLong.of(Long.parseLong(kibibytes) << 10);
        }
      }
    } catch (IOException e) {
      // not Linux
    }
    return OptionalLong.empty();
  }
}
