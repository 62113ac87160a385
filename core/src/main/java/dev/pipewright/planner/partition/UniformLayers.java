package dev.pipewright.planner.partition;

import dev.pipewright.units.Check;

/**
 * Cuts a chain into stages of equally many layers, or one more in the first ones where the count
 * does not divide.
 *
 * <p>Sources: Megatron-LM gives each pipeline rank the same number of layers (D. Narayanan et al.,
 * SC 2021, §2.2; it insists on divisibility); DeepSpeed's {@code partition_method="uniform"}. What
 * others are compared with. O(stages).
 */
public final class UniformLayers {
  private UniformLayers() {}

  /** The first layer of each stage. */
  public static int[] firsts(int layers, int stages) {
    checkStages(layers, stages);
    int[] firsts = new int[stages];
    for (int stage = 1; stage < stages; stage++) {
      boolean longer = stage - 1 < layers % stages;
      firsts[stage] = firsts[stage - 1] + layers / stages + (longer ? 1 : 0);
    }
    return firsts;
  }

  static void checkStages(int layers, int stages) {
    Check.that(
        1 <= stages && stages <= layers,
        "stages must be in 1..layers: stages=%d, layers=%d",
        stages,
        layers);
  }
}
