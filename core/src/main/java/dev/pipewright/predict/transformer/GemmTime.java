package dev.pipewright.predict.transformer;

import dev.pipewright.predict.transformer.NumberFormats.Products;

/**
 * Seconds of matrix products: tiles of 256 × 128 on all multiprocessors, with a lost share of a
 * wave of tiles and a prologue along the inner dimension.
 *
 * <p>Source of tile and wave quantisation: NVIDIA, <i>Matrix multiplication background user's
 * guide</i>, 2023.
 */
final class GemmTime {
  private static final double TILE = 256 * 128;
  private static final double LOST_WAVE = 0.5; // ω, of a wave of tiles
  private static final double PROLOGUE = 64; // K0, of 16-bit elements

  private final TransformerRun run;
  private final StackConstants constants;

  GemmTime(TransformerRun run, StackConstants constants) {
    this.run = run;
    this.constants = constants;
  }

  /** Seconds of a product forward and backward, and of the casts of its operands. */
  record Linear(double forward, double backward, double castForward, double castBackward) {
    Linear plus(Linear that) {
      return new Linear(
          forward + that.forward,
          backward + that.backward,
          castForward + that.castForward,
          castBackward + that.castBackward);
    }
  }

  /** Seconds of {@code count} products of m × k by k × n matrices at once. */
  double seconds(double m, double k, double n, double count, Products precision) {
    double prologue = precision == Products.HALF ? PROLOGUE : 2 * PROLOGUE;
    double slow = precision == Products.FP8 ? constants.rowwise() : 1;
    double wave = LOST_WAVE * run.machine().multiprocessors() * TILE;
    double rate = constants.efficiencies().of(precision) * run.machine().flops(precision);
    return slow * 2 * (count * m * n + wave) * (k + prologue) / rate;
  }

  /** A layer from {@code in} to {@code out} features over {@code rows}, in the run's precision. */
  Linear linear(double rows, double in, double out) {
    return linear(rows, in, out, 1, run.formats().products());
  }

  /** {@code count} such layers at once, each over {@code rows}. */
  Linear linear(double rows, double in, double out, double count, Products precision) {
    double cast =
        precision == Products.HALF ? 0 : constants.cast() / run.machine().memoryBandwidth();
    return new Linear(
        seconds(rows, in, out, count, precision),
        seconds(rows, out, in, count, precision) + seconds(in, rows, out, count, precision),
        count * rows * in * cast,
        count * rows * out * cast);
  }
}
