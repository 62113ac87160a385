package dev.pipewright.zoo;

import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.zoo.TransformerShapes.Decoder;
import java.util.List;
import java.util.Optional;

/** Decoders of any size in the manner of Llama and Mixtral: {@code llama:key=value,…}. */
final class SizedDecoders {
  private static final String LLAMA = "llama";
  private static final String MIXTRAL = "mixtral";
  private static final String[] LLAMA_KEYS = {
    "layers", "hidden", "heads", "kv-heads", "ffn", "sequence", "vocabulary"
  };
  private static final String[] MIXTRAL_KEYS = {
    "layers", "hidden", "heads", "kv-heads", "ffn", "sequence", "vocabulary", "experts", "chosen"
  };

  private SizedDecoders() {}

  /** The forms of names with sizes, with what is taken where one is left out. */
  static List<String> forms() {
    return List.of(
        "llama:layers=32,hidden=4096,heads=32,kv-heads=8,ffn=14336,sequence=8192,vocabulary=128256",
        "mixtral:layers=32,hidden=4096,heads=32,kv-heads=8,ffn=14336,sequence=8192,vocabulary=32000,experts=8,chosen=2");
  }

  /**
   * The shape of such a name; empty for others.
   *
   * @throws IllegalArgumentException when a form fits but a parameter makes no sense
   */
  static Optional<Transformers.Named> find(String name) {
    int colon = name.indexOf(':');
    return switch (colon < 0 ? name : name.substring(0, colon)) {
      case LLAMA -> {
        int[] s = sizes(name, LLAMA_KEYS, 32, 4096, 32, 8, 14_336, 8192, 128_256);
        yield Optional.of(named(name, s, new Dense(s[4], true, false), Transformers.LLAMA3));
      }
      case MIXTRAL -> {
        int[] s = sizes(name, MIXTRAL_KEYS, 32, 4096, 32, 8, 14_336, 8192, 32_000, 8, 2);
        FeedForwardShape experts = Transformers.experts(s[7], s[8], s[4]);
        yield Optional.of(named(name, s, experts, Transformers.MIXTRAL));
      }
      default -> Optional.empty();
    };
  }

  private static int[] sizes(String name, String[] keys, int... usual) {
    int colon = name.indexOf(':');
    return colon < 0 ? usual : Options.parse(name, name.substring(colon + 1), keys, usual);
  }

  private static Transformers.Named named(
      String name, int[] s, FeedForwardShape feedForward, String source) {
    Decoder sizes = new Decoder(s[0], s[1], s[2], s[5], s[6]);
    return new Transformers.Named(name, TransformerShapes.llama(sizes, s[3], feedForward), source);
  }
}
