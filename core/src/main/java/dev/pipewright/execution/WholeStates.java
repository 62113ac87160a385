package dev.pipewright.execution;

import java.util.Arrays;

/**
 * Of a stage that a worker holds whole. Gradients that several sum move into buckets in the last
 * pass, bucket by bucket; these are there all the time.
 */
final class WholeStates implements StateBytes {
  private final double resting;
  private final double[] gradients; // by layer
  private final double[] moved; // gradients of all layers behind a layer's bucket
  private final boolean summed;
  private final int passes;

  /**
   * @param held parameters, their gradients, and what the update rule remembers
   * @param gradients by layer
   * @param bucketBytes of gradients that are summed over workers at once; 0 where none are
   * @param passes of a step that give gradients
   */
  WholeStates(double held, double[] gradients, double bucketBytes, int passes) {
    this.gradients = gradients.clone();
    this.summed = bucketBytes > 0;
    this.resting = summed ? held : held - all(); // buckets have as much
    this.moved = moved(gradients, bucketBytes);
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
    return passed == 0 || (passed == passes && summed) ? 0 : all();
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
