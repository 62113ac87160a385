package dev.pipewright.runtime.data;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Shape;

/**
 * Whether data suit a network; where they do not, a sentence says so before training starts.
 *
 * @param data as the user named them
 */
record Fit(String data, DatasetRequirements wanted) {
  BadInputException misfit(String sentence) {
    return new BadInputException("--data " + data + ": " + sentence);
  }

  /** The images that the network reads, where that is all it reads. */
  Shape images() {
    if (wanted.inputs().size() == 1
        && wanted.inputs().get(0) instanceof DatasetRequirements.Input.Field field) {
      return field.shape();
    }
    throw misfit("these are images, but " + wanted.network() + " reads " + read() + "; " + other());
  }

  /** The images that the network reads; they must be of this shape, or a row of as many numbers. */
  Shape images(Shape given) {
    Shape shape = images();
    boolean row = shape.extents().size() == 1 && shape.elements() == given.elements();
    if (!shape.equals(given) && !row) {
      throw misfit(
          "these images are "
              + given
              + ", but "
              + wanted.network()
              + " reads "
              + shape
              + "; take a network of their size, or images:DIR, which resizes");
    }
    return shape;
  }

  /** The tokens that the network reads, where that is all it reads. */
  DatasetRequirements.Input.Tokens tokens() {
    if (wanted.inputs().size() == 1
        && wanted.inputs().get(0) instanceof DatasetRequirements.Input.Tokens t) {
      return t;
    }
    throw misfit("this is text, but " + wanted.network() + " reads " + read() + "; " + other());
  }

  /** The number of classes that the network distinguishes, which must be enough. */
  int classes(int least) {
    if (!(wanted.answer() instanceof DatasetRequirements.Answer.Classes classes)) {
      throw misfit(
          "the answers are classes, but "
              + wanted.network()
              + " answers with "
              + wanted.answer()
              + "; "
              + other());
    }
    if (classes.count() < least) {
      throw misfit(
          "the data have "
              + least
              + " classes, but "
              + wanted.network()
              + " tells "
              + classes.count()
              + " apart; take a network with classes="
              + least
              + " or more");
    }
    return classes.count();
  }

  /** A score for each token at every step that the network reads. */
  DatasetRequirements.Answer.Tokens tokenScores(int steps) {
    if (wanted.answer() instanceof DatasetRequirements.Answer.Tokens tokens
        && tokens.steps() == steps) {
      return tokens;
    }
    throw misfit(
        "the answers are the next tokens, but "
            + wanted.network()
            + " answers with "
            + wanted.answer()
            + "; "
            + other());
  }

  /** What the network reads, in words. */
  String read() {
    StringBuilder words = new StringBuilder();
    for (DatasetRequirements.Input input : wanted.inputs()) {
      words.append(words.isEmpty() ? "" : " and ").append(input);
    }
    return words.toString();
  }

  /** Which data would suit. */
  private String other() {
    return SyntheticKind.of(wanted)
        .map(kind -> "try synthetic:" + kind.word())
        .orElse("take another network");
  }
}
