package dev.pipewright.planner.alpa;

import dev.pipewright.units.Check;

/**
 * What every run of layers costs as a stage on every shape of devices.
 *
 * @param devices how many devices each shape has
 * @param seconds by first layer, last layer and shape: of one micro-batch, forward and backward;
 *     infinite where the stage cannot be
 * @param mostBehind the same way: how many stages may follow so that the micro-batches in flight
 *     fit; −1 where none does
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StageTable(int[] devices, double[][][] seconds, int[][][] mostBehind) {
  public StageTable {
    int layers = seconds.length;
    Check.that(layers >= 1, "a network has layers: layers=%d", layers);
    Check.that(devices.length >= 1, "there are shapes of devices: shapes=%d", devices.length);
    Check.that(
        mostBehind.length == layers,
        "every stage needs a memory limit: seconds=%d, mostBehind=%d",
        layers,
        mostBehind.length);
    for (int first = 0; first < layers; first++) {
      for (int last = first; last < layers; last++) {
        for (int shape = 0; shape < devices.length; shape++) {
          double each = seconds[first][last][shape];
          Check.that(
              each >= 0, // false for NaN
              "a stage takes time: layers=[%d, %d], shape=%d, seconds=%s",
              first,
              last,
              shape,
              each);
        }
      }
    }
  }

  /** How many layers there are. */
  public int layers() {
    return seconds.length;
  }
}
