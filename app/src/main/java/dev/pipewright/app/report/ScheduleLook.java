package dev.pipewright.app.report;

import dev.pipewright.schedule.Op.Pass;

/**
 * How each kind of op looks in pictures of schedules. Computing has colours from the palette of M.
 * Okabe and K. Ito (<i>Color universal design</i>, 2008), which the colour-blind can tell apart;
 * exchanges have ones that stand out on light and on dark grounds.
 */
enum ScheduleLook {
  FORWARD("forward", 0x0072B2, 34),
  BACKWARD("backward", 0xE69F00, 33),
  BACKWARD_INPUT("gradient of the input", 0xD55E00, 31),
  BACKWARD_WEIGHT("gradient of the weights", 0x009E73, 32),
  RECOMPUTE("forward again", 0xCC79A7, 35),
  UPDATE("update", 0xF0E442, 36),
  REDUCE("gradients added up", 0x8C5AA8, 35),
  GATHER("parameters gathered", 0x56B4E9, 36),
  HAND_ON("taken over", 0x8A939C, 37);

  private static final double PALEST = 0.55; // how much white the last shade has

  /** In words. */
  final String words;

  private final int colour;

  /** The terminal's number of its colour. */
  final String ansi;

  ScheduleLook(String words, int colour, int ansi) {
    this.words = words;
    this.colour = colour;
    this.ansi = Integer.toString(ansi);
  }

  static ScheduleLook of(Pass pass) {
    return switch (pass) {
      case FORWARD -> FORWARD;
      case BACKWARD -> BACKWARD;
      case BACKWARD_INPUT -> BACKWARD_INPUT;
      case BACKWARD_WEIGHT -> BACKWARD_WEIGHT;
      case RECOMPUTE -> RECOMPUTE;
      case UPDATE -> UPDATE;
      case REDUCE -> REDUCE;
      case GATHER -> GATHER;
      case HAND_ON -> HAND_ON;
    };
  }

  /** The colour of a shade, from 0 to {@code most}. */
  String fill(int shade, int most) {
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
  boolean isLight(int shade, int most) {
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
