package dev.pipewright.app.report;

import dev.pipewright.trace.Timeline.Kind;

/**
 * How each kind of work looks: one name, letter, shade and colour in all pictures. The colours are
 * from the palette of M. Okabe and K. Ito (<i>Color universal design</i>, 2008), which the
 * colour-blind can tell apart, and greys that differ in lightness.
 */
enum Look {
  FORWARD("forward", "F", '░', "#0072B2", "#FFFFFF", "34"),
  BACKWARD("backward", "B", '█', "#E69F00", "#000000", "33"),
  TRANSFER_FORWARD("activations sent", "S", '-', "#8A939C", "#000000", "37"),
  TRANSFER_BACKWARD("gradients sent", "R", '-', "#555D66", "#FFFFFF", "37"),
  ALL_REDUCE("all-reduce", "A", '∑', "#CC79A7", "#000000", "35"),
  UPDATE("update", "U", 'u', "#F0E442", "#000000", "36");

  private static final Look[] ALL = values();

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

  Look(String word, String letter, char shade, String fill, String text, String ansi) {
    this.word = word;
    this.letter = letter;
    this.shade = shade;
    this.fill = fill;
    this.text = text;
    this.ansi = ansi;
  }

  /** The looks are declared in the order of the kinds; a test holds it. */
  static Look of(Kind kind) {
    return ALL[kind.ordinal()];
  }

  static boolean isPass(Kind kind) {
    return kind == Kind.FORWARD || kind == Kind.BACKWARD;
  }
}
