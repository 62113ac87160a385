package dev.pipewright.predict.run;

import dev.pipewright.cost.StateBytes;
import java.util.Arrays;

/**
 * Of a stage that a worker holds whole. In the last pass gradients leave bucket by bucket: those
 * that several sum go where room for them is all the time, those of a worker that trains alone are
 * gone with their update. Those of tables that are read twice stay where they are until the step
 * ends.
 */
final class WholeStates implements StateBytes {
  private final double resting;
  private final double[] gradients; // by layer
  private final double[] moved; // gradients of all layers behind a layer's bucket
  private final double staying; // where others leave
  private final boolean leave;
  private final int passes;

  /**
   * @param held parameters, what the update rule remembers, and all gradients, or the room that
   *     they leave for
   * @param gradients by layer
   * @param tied those among them that do not leave
   * @param bucketBytes of gradients that leave at once; 0 where none do
   * @param passes of a step that give gradients
   */
  WholeStates(double held, double[] gradients, double[] tied, double bucketBytes, int passes) {
    this.gradients = gradients.clone();
    this.leave = bucketBytes > 0;
    this.staying = Arrays.stream(tied).sum();
    this.resting = held - (leave ? staying : all()); // their room has as much as leaves
    double[] moving = new double[gradients.length];
    Arrays.setAll(moving, layer -> gradients[layer] - tied[layer]);
    this.moved = moved(moving, bucketBytes);
    this.passes = passes;
  }

  private static double[] moved(double[] gradients, double bucketBytes) {
    double[] moved = new double[gradients.length];
    if (bucketBytes > 0) {
      double bucket = 0;
      int first = 0;
      for (int layer = 0; layer < gradients.length; layer++) {
        bucket += gradients[layer];
        if (bucket >= bucketBytes || layer == gradients.length - 1) {
          double behind =
              Arrays.stream(Arrays.copyOfRange(gradients, layer + 1, gradients.length)).sum();
          Arrays.fill(moved, first, layer + 1, behind);
          first = layer + 1;
          bucket = 0;
        }
      }
    }
    return moved;
  }

  private double all() {
    return Arrays.stream(gradients).sum();
  }

  @Override
  public double resting() {
    return resting;
  }

  @Override
  public double between(int passed) {
    if (passed == 0) {
      return 0;
    }
    return passed == passes && leave ? staying : all();
  }

  @Override
  public double forward(int layer, int passed) {
    return between(passed);
  }

  @Override
  public double backward(int layer, int passed) {
    double there =
        passed == 0
            ? Arrays.stream(Arrays.copyOfRange(gradients, layer + 1, gradients.length)).sum()
            : all();
    return there - (passed + 1 == passes ? moved[layer] : 0);
  }

  @Override
  public double inputPart(int layer, int passed) {
    return between(passed);
  }

  @Override
  public double leaving(int layer, int passed) {
    return Double.NEGATIVE_INFINITY; // nothing happens then
  }

  @Override
  public double ending() {
    return between(passes);
  }
}
