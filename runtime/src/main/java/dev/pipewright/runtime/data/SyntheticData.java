package dev.pipewright.runtime.data;

import dev.pipewright.model.Shape;

/** Makes data of a kind for a network. The held-out samples follow those that it learns from. */
final class SyntheticData {
  private static final int USUAL_ALPHABET = 256;
  private static final int USUAL_SOURCES = 10;
  private static final long MOST_HELD_OUT = 10_000;

  private final DatasetSpec.Synthetic spec;
  private final Fit fit;
  private final long heldOut;
  private final long all;

  private SyntheticData(DatasetSpec.Synthetic spec, Fit fit) {
    this.spec = spec;
    this.fit = fit;
    this.heldOut = Math.min(MOST_HELD_OUT, Math.max(1, spec.samples() / 10));
    this.all = spec.samples() + heldOut;
  }

  static TrainingData open(DatasetSpec.Synthetic spec, Fit fit) {
    SyntheticData data = new SyntheticData(spec, fit);
    SyntheticKind kind =
        spec.kind()
            .or(() -> SyntheticKind.of(fit.wanted()))
            .orElseThrow(() ->
                fit.misfit(
                    "nothing is made for "
                        + fit.wanted().network()
                        + ", which reads "
                        + fit.read()
                        + "; take another network"));
    Dataset made =
        switch (kind) {
          case IMAGES -> data.images();
          case TOKENS -> data.tokens();
          case VOLUMES -> data.volumes();
          case PAIRS -> data.pairs();
        };
    return new TrainingData(
        Selection.section(made, 0, spec.samples()),
        Selection.section(made, spec.samples(), data.heldOut));
  }

  private Dataset images() {
    Shape shape = fit.images();
    int classes = fit.classes(spec.classes().orElse(1));
    return new SyntheticImages(all, spec.seed(), spec.classes().orElse(classes), shape);
  }

  private Dataset tokens() {
    DatasetRequirements.Input.Tokens read = fit.tokens();
    if (fit.wanted().answer() instanceof DatasetRequirements.Answer.Classes) {
      int classes = fit.classes(spec.classes().orElse(1));
      int sources = spec.classes().orElse(Math.min(classes, USUAL_SOURCES));
      int alphabet = Math.min(read.vocabulary(), USUAL_ALPHABET);
      return new SyntheticTokens(all, spec.seed(), alphabet, sources, read.steps(), false);
    }
    int most = Math.min(read.vocabulary(), fit.tokenScores(read.steps()).vocabulary());
    return new SyntheticTokens(all, spec.seed(), alphabet(most), 1, read.steps(), true);
  }

  private Dataset volumes() {
    Shape shape = fit.images();
    if (shape.extents().size() >= 2
        && fit.wanted().answer() instanceof DatasetRequirements.Answer.Quantities quantities
        && quantities.count() <= SyntheticVolumes.PARAMETERS) {
      return new SyntheticVolumes(all, spec.seed(), quantities.count(), shape);
    }
    throw fit.misfit(
        "volumes have up to 4 quantities as answers, but "
            + fit.wanted().network()
            + " reads "
            + fit.read()
            + " and answers with "
            + fit.wanted().answer()
            + "; take a network such as cosmoflow");
  }

  private Dataset pairs() {
    if (fit.wanted().inputs().size() == 2
        && fit.wanted().inputs().get(0) instanceof DatasetRequirements.Input.Tokens source
        && fit.wanted().inputs().get(1) instanceof DatasetRequirements.Input.Tokens target) {
      int scores = fit.tokenScores(target.steps()).vocabulary();
      int most = Math.min(Math.min(source.vocabulary(), target.vocabulary()), scores);
      int words = alphabet(most - SyntheticPairs.MARKS);
      return new SyntheticPairs(all, spec.seed(), words, source.steps(), target.steps());
    }
    throw fit.misfit(
        "pairs of sentences are two inputs, but "
            + fit.wanted().network()
            + " reads "
            + fit.read()
            + "; take a network such as gnmt");
  }

  private int alphabet(int most) {
    int asked = spec.classes().orElse(Math.min(most, USUAL_ALPHABET));
    if (most < 1 || asked > most) {
      throw fit.misfit(
          asked
              + " tokens are more than "
              + fit.wanted().network()
              + " knows; write classes= with at most "
              + Math.max(0, most));
    }
    return asked;
  }
}
