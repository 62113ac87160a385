package dev.pipewright.app.report;

import dev.pipewright.trace.Timeline.Kind;

/**
 * How each kind of work looks: one name, letter, shade and colour in all pictures. The colours are
 * from the palette of M. Okabe and K. Ito (<i>Color universal design</i>, 2008), which the
 * colour-blind can tell apart, and greys that differ in lightness.
 */
enum Look {
  FORWARD(0, "forward", "F", '░', "#0072B2", "#FFFFFF", "34"),
  BACKWARD(1, "backward", "B", '█', "#E69F00", "#000000", "33"),
  TRANSFER_FORWARD(2, "activations sent", "S", '-', "#8A939C", "#000000", "37"),
  TRANSFER_BACKWARD(3, "gradients sent", "R", '-', "#555D66", "#FFFFFF", "37"),
  ALL_REDUCE(4, "all-reduce", "A", '∑', "#CC79A7", "#000000", "35"),
  UPDATE(5, "update", "U", 'u', "#F0E442", "#000000", "36");

  /** Its place in arrays and its number in the page's data. */
  final int number;

  /** In words. */
  final String word;

  /** Before the number of the micro-batch. */
  final String letter;

  /** What fills its cells in a picture of text. */
  final char shade;

  final String fill;

  /** What can be read upon {@link #fill}. */
  final String text;

  /** The terminal's number of its colour. */
  final String ansi;

  Look(int number, String word, String letter, char shade, String fill, String text, String ansi) {
    this.number = number;
    this.word = word;
    this.letter = letter;
    this.shade = shade;
    this.fill = fill;
    this.text = text;
    this.ansi = ansi;
  }

  static Look of(Kind kind) {
    return switch (kind) {
      case FORWARD -> FORWARD;
      case BACKWARD -> BACKWARD;
      case TRANSFER_FORWARD -> TRANSFER_FORWARD;
      case TRANSFER_BACKWARD -> TRANSFER_BACKWARD;
      case ALL_REDUCE -> ALL_REDUCE;
      case UPDATE -> UPDATE;
    };
  }

  static boolean isPass(Kind kind) {
    return kind == Kind.FORWARD || kind == Kind.BACKWARD;
  }
}
