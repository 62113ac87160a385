package dev.pipewright.predict.paradl;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.profile.Profile.Quantity;
import java.util.Arrays;

/** A network cut into consecutive stages whose slowest is as fast as cuts allow. */
final class StageCut {
  private final ParadlNetwork network;
  private final StageCosts costs;
  private final int[] firsts; // of each stage, and the end

  private StageCut(ParadlNetwork network, StageCosts costs, int[] firsts) {
    this.network = network;
    this.costs = costs;
    this.firsts = firsts;
  }

  /**
   * By parametric search over the slowest stage's time at the profile's first slice size: the bound
   * is halved until the greedy cut has as many stages as asked for, to 1e-9.
   */
  static StageCut balanced(ParadlNetwork network, StageCosts costs, int stages) {
    double[] time = seconds(network, costs);
    double low = time[costs.size()] / stages;
    double high = time[costs.size()];
    while (high - low > 1e-9 * high) {
      double middle = (low + high) / 2;
      if (greedy(time, stages, middle)[stages] == costs.size()) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return new StageCut(network, costs, greedy(time, stages, high));
  }

  /**
   * The cut whose stages differ least, by the sum of their squared seconds, among those whose
   * slowest is as fast as cuts allow: for several stages on each rank. A greedy cut makes early
   * stages as long as the slowest; their ranks hold most micro-batches of just these. By dynamic
   * programming, O(stages · layers²).
   */
  static StageCut even(ParadlNetwork network, StageCosts costs, int stages) {
    StageCut greedy = balanced(network, costs, stages);
    double[] time = seconds(network, costs);
    double bound = 0;
    for (int stage = 0; stage < stages; stage++) {
      bound = Math.max(bound, time[greedy.end(stage)] - time[greedy.first(stage)]);
    }
    return new StageCut(network, costs, leastSquares(time, stages, bound * (1 + 1e-9)));
  }

  /** Seconds of both passes of all before each position. */
  private static double[] seconds(ParadlNetwork network, StageCosts costs) {
    int slice = network.workload().profile().samples().get(0);
    double[] time = new double[costs.size() + 1];
    for (int end = 1; end < time.length; end++) {
      double sum = costs.forwardSeconds(slice)[end] + costs.backwardSeconds(slice)[end];
      time[end] = Math.max(time[end - 1], sum); // sums differ by rounding
    }
    return time;
  }

  private static int[] leastSquares(double[] time, int stages, double bound) {
    int size = time.length - 1;
    double[] least = new double[size + 1]; // of the stages so far, by their end
    Arrays.fill(least, Double.POSITIVE_INFINITY);
    least[0] = 0;
    int[][] first = new int[stages][size + 1];
    for (int stage = 0; stage < stages; stage++) {
      double[] next = new double[size + 1];
      Arrays.fill(next, Double.POSITIVE_INFINITY);
      for (int end = stage + 1; end <= size - (stages - 1 - stage); end++) {
        for (int from = end - 1; from >= stage; from--) {
          double seconds = time[end] - time[from];
          if (seconds > bound) {
            break;
          }
          if (least[from] + seconds * seconds < next[end]) {
            next[end] = least[from] + seconds * seconds;
            first[stage][end] = from;
          }
        }
      }
      least = next;
    }
    int[] firsts = new int[stages + 1];
    firsts[stages] = size;
    for (int stage = stages - 1; stage > 0; stage--) {
      firsts[stage] = first[stage][firsts[stage + 1]];
    }
    return firsts;
  }

  /**
   * The longest stages within {@code bound} seconds, one position at least, and one left for each
   * stage that follows. Positions without time go to the stage before them.
   */
  private static int[] greedy(double[] time, int stages, double bound) {
    int size = time.length - 1;
    int[] firsts = new int[stages + 1];
    for (int stage = 1; stage <= stages; stage++) {
      int first = firsts[stage - 1];
      int end = first;
      while (end < size && time[end + 1] <= time[first] + bound) {
        end++;
      }
      firsts[stage] = Math.max(first + 1, Math.min(end, size - (stages - stage)));
    }
    return firsts;
  }

  StageCosts costs() {
    return costs;
  }

  int stages() {
    return firsts.length - 1;
  }

  int first(int stage) {
    return firsts[stage];
  }

  int end(int stage) {
    return firsts[stage + 1];
  }

  /** Forward and backward seconds of a stage over a slice, which may be a fraction. */
  double seconds(int stage, double samples) {
    double[] seconds = network.wholeSeconds(samples);
    double sum = 0;
    for (int layer : layers(stage)) {
      sum += seconds[layer];
    }
    return sum;
  }

  /** The forward part of it. */
  double forwardSeconds(int stage, double samples) {
    double[] forward = network.workload().profile().seconds(Quantity.FORWARD, samples);
    double sum = 0;
    for (int layer : layers(stage)) {
      sum += forward[layer] * network.costs().slowdown(0);
    }
    return sum;
  }

  double updateSeconds(int stage) {
    double sum = 0;
    for (int layer : layers(stage)) {
      sum += network.updateSeconds(layer);
    }
    return sum;
  }

  /** Bytes that one sample sends into a stage. */
  double inputBytes(int stage) {
    return costs.cutBytes()[firsts[stage]];
  }

  /** The layers of a stage. */
  private int[] layers(int stage) {
    int after = costs.inChain(firsts[stage]) - 1;
    int last = costs.inChain(firsts[stage + 1]) - 1;
    return network.workload().chain().layers(after, last);
  }

  /** ParaDL's formula 14: the stage with the largest sum. */
  MemoryUse naiveMemory(double samples, double delta) {
    MemoryUse most = new MemoryUse(0, 0, 0, 0, 0);
    for (int stage = 0; stage < stages(); stage++) {
      MemoryUse use = naiveMemory(stage, samples, delta);
      most = use.total() > most.total() ? use : most;
    }
    return most;
  }

  private MemoryUse naiveMemory(int stage, double samples, double delta) {
    double weights = 0;
    double biases = 0;
    double activations = 0;
    for (int layer : layers(stage)) {
      Geometry l = network.layer(layer);
      weights += l.weights();
      biases += l.biases();
      activations += l.activations();
    }
    return new MemoryUse(
        delta * (weights + biases), delta * weights, 0, delta * 2 * samples * activations, 0);
  }
}
