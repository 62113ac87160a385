package dev.pipewright.app.report.chart;

import dev.pipewright.trace.Timeline.Kind;

/**
 * How each kind of work looks: one name, letter, shade and colour in all pictures. Computing has
 * colours from the palette of M. Okabe and K. Ito (<i>Color universal design</i>, 2008), which the
 * colour-blind can tell apart; the rest has ones that stand out on light and on dark grounds.
 */
public enum Look {
  FORWARD(0, "forward", 'F', '░', 0x0072B2, 34),
  BACKWARD(1, "backward", 'B', '█', 0xE69F00, 33),
  BACKWARD_INPUT(2, "input gradient", 'I', '▒', 0xD55E00, 31),
  BACKWARD_WEIGHT(3, "weight gradient", 'W', '▞', 0x009E73, 32),
  RECOMPUTE(4, "recomputation", 'R', '▚', 0xCC79A7, 35),
  UPDATE(5, "update", 'U', 'u', 0xF0E442, 36),
  ALL_REDUCE(6, "all-reduce", 'A', '∑', 0x8C5AA8, 35),
  ALL_GATHER(7, "all-gather", 'G', 'g', 0x56B4E9, 36),
  HAND_ON(8, "state received", 'H', 'h', 0x6F7780, 37),
  TRANSFER_FORWARD(9, "activations sent", 'S', '-', 0x8A939C, 37),
  TRANSFER_BACKWARD(10, "gradients sent", 'T', '-', 0x555D66, 37);

  private static final double PALEST = 0.55; // how much white the last shade has

  /** Its place in arrays and its number in the page's data. */
  public final int number;

  /** In words. */
  public final String word;

  /** Before the number of the micro-batch. */
  public final char letter;

  /** What fills its cells in a picture of text. */
  public final char shade;

  private final int colour;

  /** The terminal's number of its colour. */
  public final String ansi;

  Look(int number, String word, char letter, char shade, int colour, int ansi) {
    this.number = number;
    this.word = word;
    this.letter = letter;
    this.shade = shade;
    this.colour = colour;
    this.ansi = Integer.toString(ansi);
  }

  public static Look of(Kind kind) {
    return switch (kind) {
      case FORWARD -> FORWARD;
      case BACKWARD -> BACKWARD;
      case BACKWARD_INPUT -> BACKWARD_INPUT;
      case BACKWARD_WEIGHT -> BACKWARD_WEIGHT;
      case RECOMPUTE -> RECOMPUTE;
      case UPDATE -> UPDATE;
      case ALL_REDUCE -> ALL_REDUCE;
      case ALL_GATHER -> ALL_GATHER;
      case HAND_ON -> HAND_ON;
      case TRANSFER_FORWARD -> TRANSFER_FORWARD;
      case TRANSFER_BACKWARD -> TRANSFER_BACKWARD;
    };
  }

  public boolean transfers() {
    return this == TRANSFER_FORWARD || this == TRANSFER_BACKWARD;
  }

  /** Whether a rank computes meanwhile, or may. */
  public boolean exchanges() {
    return this == ALL_REDUCE || this == ALL_GATHER || this == HAND_ON;
  }

  /** Whether it is a backward pass or a half of one. */
  public boolean backward() {
    return this == BACKWARD || this == BACKWARD_INPUT || this == BACKWARD_WEIGHT;
  }

  /** Whether slices have a number: that of their micro-batch or stage. */
  public boolean numbered() {
    return !transfers() && !exchanges();
  }

  /** The colour of a shade, from 0 to {@code most}: {@code #0072B2}. */
  public String fill(int shade, int most) {
    return "#%06X".formatted(mixed(shade, most));
  }

  private int mixed(int shade, int most) {
    double white = most == 0 ? 0 : PALEST * shade / most;
    int mixed = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
      int part = colour >> shift & 0xFF;
      mixed |= (int) Math.round(part + white * (255 - part)) << shift;
    }
    return mixed;
  }

  /** Whether black can be read better upon a shade than white. */
  public boolean isLight(int shade, int most) {
    double luminance = luminance(mixed(shade, most));
    return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05);
  }

  /** Relative luminance as WCAG 2.2 defines it. */
  private static double luminance(int colour) {
    return 0.2126 * linear(colour >> 16) + 0.7152 * linear(colour >> 8) + 0.0722 * linear(colour);
  }

  private static double linear(int part) {
    double value = (part & 0xFF) / 255.0;
    return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
  }
}
