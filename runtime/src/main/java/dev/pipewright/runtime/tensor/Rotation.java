package dev.pipewright.runtime.tensor;

import java.util.List;
import org.bytedeco.pytorch.Scalar;

/**
 * Rotary positions: pairs of features of queries and keys are rotated by angles that grow with the
 * position, so that scores depend on distances (J. Su et al., <i>RoFormer</i>, arXiv:2104.09864,
 * §3.2.2, with its base of 10,000). Feature i of the first half and feature i of the second half
 * are a pair, as in Hugging Face's Llama.
 */
public final class Rotation {
  private static final double BASE = 10_000;

  private final long width;
  private final Tensor cosines; // steps × pairs
  private final Tensor sines;

  /**
   * Of some steps of a sequence. Belongs to the scope that is open.
   *
   * @param first step
   * @param width features of a head, an even number
   */
  public Rotation(long first, long steps, int width) {
    this.width = width;
    var positions = NewTensors.counting(steps).add(new Scalar(first)).unsqueeze(1);
    var pairs = NewTensors.counting(width / 2);
    var angles = positions.mul(pairs.mul(new Scalar(-2 * Math.log(BASE) / width)).exp());
    this.cosines = new Tensor(angles.cos());
    this.sines = new Tensor(angles.sin());
  }

  /**
   * The rotated features.
   *
   * @param heads samples × heads × steps × width
   */
  public Tensor of(Tensor heads) {
    Tensor first = heads.part(3, 0, width / 2);
    Tensor second = heads.part(3, width / 2, width / 2);
    return Tensor.joined(
        List.of(
            first.times(cosines).minus(second.times(sines)),
            second.times(cosines).plus(first.times(sines))),
        3);
  }
}
