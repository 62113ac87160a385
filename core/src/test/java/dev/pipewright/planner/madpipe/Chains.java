package dev.pipewright.planner.madpipe;

import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Chains to plan. */
final class Chains {
  private Chains() {}

  /** Layers without activations, from their seconds and bytes in turn. */
  static LayerChain of(double... secondsAndBytes) {
    List<StageLoad> layers = new ArrayList<>();
    for (int i = 0; i < secondsAndBytes.length; i += 2) {
      double half = secondsAndBytes[i] / 2;
      layers.add(new StageLoad(half, half, secondsAndBytes[i + 1], 0));
    }
    return LayerChain.of(layers);
  }

  /** Up to so many layers of whole seconds and bytes, so that sums are exact. */
  static LayerChain random(SplittableRandom random, int most) {
    List<StageLoad> layers = new ArrayList<>();
    int count = random.nextInt(1, most + 1);
    for (int layer = 0; layer < count; layer++) {
      layers.add(
          new StageLoad(
              random.nextInt(0, 5), random.nextInt(1, 6), random.nextInt(4), random.nextInt(4)));
    }
    int longest = random.nextInt(4);
    double[] cuts = new double[count - 1];
    for (int cut = 0; cut < cuts.length; cut++) {
      cuts[cut] = random.nextInt(longest + 1);
    }
    return LayerChain.of(layers, cuts);
  }

  /**
   * The same of a network: stages hold copies of their inputs, of one byte or a few, and layers
   * keep more.
   */
  static LayerChain withInputs(SplittableRandom random, int most) {
    int count = random.nextInt(1, most + 1);
    double[][] figures = new double[4][count + 1];
    double[] input = new double[count + 1];
    double[] transfer = new double[count + 1];
    for (int layer = 0; layer < count; layer++) {
      int[] own = {
        random.nextInt(1, 5), random.nextInt(1, 6), random.nextInt(4), random.nextInt(1, 6)
      };
      for (int i = 0; i < 4; i++) {
        figures[i][layer + 1] = figures[i][layer] + own[i];
      }
      input[layer] = random.nextInt(1, 3);
      transfer[layer] = layer > 0 ? random.nextInt(3) : 0;
    }
    int[] places = IntStream.rangeClosed(0, count).toArray();
    return new LayerChain(figures, input, transfer, places, LayerChain.CopyBytes.NONE);
  }

  /** Theorem 5's chain, all seconds times 2k + 1, so that they are whole. */
  static LayerChain theoremFive(int k) {
    List<Double> seconds = new ArrayList<>();
    double whole = 2 * k + 1;
    for (int part = 0; part < k; part++) {
      seconds.addAll(List.of(k * whole, 1.0, (k - 1) * whole, 1.0));
    }
    seconds.add(k * whole);
    for (int i = 0; i < (k - 2) * (2 * k + 1) + 1; i++) {
      seconds.add(1.0);
    }
    seconds.add(whole);
    return of(
        seconds.stream()
            .flatMap(s -> java.util.stream.Stream.of(s, 0.0))
            .mapToDouble(Double::doubleValue)
            .toArray());
  }

  /** Theorem 6's chain for M = k + 1: seconds and bytes. */
  static LayerChain theoremSix(int k) {
    double[] all = new double[2 * (2 * k + 1)];
    for (int i = 0; i < k; i++) {
      all[2 * i] = 1;
      all[2 * i + 1] = k;
      all[2 * (k + 1 + i)] = k - 1;
      all[2 * (k + 1 + i) + 1] = 1;
    }
    all[2 * k] = k;
    all[2 * k + 1] = k + 1;
    return of(all);
  }
}
