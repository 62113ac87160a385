package dev.pipewright.app.cli.predict;

import dev.pipewright.predict.transformer.CalibratedConstants.Coverage;
import dev.pipewright.predict.transformer.TrainingLayout;

/** Layouts of transformers, and predictions of them, in words. */
final class LayoutWords {
  private LayoutWords() {}

  /** {@code t8 p8 d2 v3}: degrees as papers write them. */
  static String degrees(TrainingLayout layout) {
    StringBuilder text = new StringBuilder();
    degree(text, "t", layout.tensor(), true);
    degree(text, "c", layout.context(), false);
    degree(text, "p", layout.pipeline(), true);
    degree(text, "d", layout.data(), true);
    degree(text, "e", layout.expert(), false);
    degree(text, "v", layout.interleave(), false);
    return text.toString();
  }

  private static void degree(StringBuilder text, String letter, int degree, boolean always) {
    if (degree > 1 || always) {
      text.append(text.isEmpty() ? "" : " ").append(letter).append(degree);
    }
  }

  /** {@code 3}, or {@code 3 always} where a pipeline shards again after every pass. */
  static String zero(TrainingLayout layout) {
    boolean again = layout.zero() >= 2 && layout.pipeline() > 1 && layout.reshard();
    return layout.zero() + (again ? " always" : "");
  }

  /** What is to be said of a prediction by where its run lies among measured ones. */
  static String coverage(Coverage coverage) {
    return switch (coverage) {
      case INSIDE -> "";
      case EXTRAPOLATED -> "; no such size was measured with this software on this chip";
      case UNSEEN -> "; nothing was measured with this software on this chip";
    };
  }
}
