package dev.pipewright.formats.model;

import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Constants of a transformer that change neither its sizes nor its work, and that its training
 * needs all the same. Empty where the source does not state them.
 *
 * @param rotaryBase base of the rotary positions' wavelengths (J. Su et al., <i>RoFormer</i>,
 *     arXiv:2104.09864, §3.2.2)
 * @param rotaryShare share of a head's features that rotate, from 0 to 1
 * @param rotaryScaling of those wavelengths
 * @param normEpsilon what normalisations add to the variance
 * @param attentionDropout probability of dropping an attention weight
 * @param hiddenDropout probability of dropping a feature after attention and feed-forward part
 * @param activation the function in feed-forward parts, or of their gate, as Hugging Face names it:
 *     {@code silu}, {@code gelu_pytorch_tanh}
 */
public record TransformerConstants(
    OptionalDouble rotaryBase,
    OptionalDouble rotaryShare,
    Optional<RotaryScaling> rotaryScaling,
    OptionalDouble normEpsilon,
    OptionalDouble attentionDropout,
    OptionalDouble hiddenDropout,
    Optional<String> activation) {
  /** Of a source that states none. */
  public static final TransformerConstants NONE =
      new TransformerConstants(
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          Optional.empty(),
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          Optional.empty());
}
