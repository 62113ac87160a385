package dev.pipewright.app.report.text;

import dev.pipewright.execution.StepResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * The line that shows how far training has come. What does not fit the terminal is left out, the
 * least important first.
 *
 * @param columns of the terminal; the line has at most as many
 * @param terminal whether it is one: then there is a bar, and {@code colours} may be used
 */
public record ProgressLine(int columns, boolean terminal, boolean colours) {
  private static final int LONGEST_BAR = 30;
  private static final int SHORTEST_BAR = 8;
  private static final String GREEN = "\u001b[32m";
  private static final String DIM = "\u001b[2m";
  private static final String PLAIN = "\u001b[0m";
  private static final String[] EIGHTHS = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

  /** Only a terminal has colours. */
  public ProgressLine {
    colours = colours && terminal;
  }

  /**
   * The line for a step, without a line end.
   *
   * @param steps how many there are in all
   * @param accuracy the share of held-out rows that were last answered rightly
   */
  public String of(StepResult now, long steps, OptionalDouble accuracy) {
    long made = now.step() + 1;
    List<String> facts = facts(now, made, steps, accuracy);
    while (facts.size() > 1 && width(facts) > columns) {
      facts.remove(facts.size() - 1);
    }
    String counted = facts.get(0);
    String rest = facts.size() > 1 ? "  " + String.join("  ", facts.subList(1, facts.size())) : "";
    int free = Math.min(LONGEST_BAR, columns - width(facts) - 2);
    String line = counted + bar(made, steps, free) + rest;
    return line.length() > columns && free < SHORTEST_BAR
        ? line.substring(0, Math.max(0, columns))
        : line;
  }

  private static int width(List<String> facts) {
    return String.join("  ", facts).length();
  }

  /** The most important first. */
  private static List<String> facts(
      StepResult now, long made, long steps, OptionalDouble accuracy) {
    List<String> facts = new ArrayList<>();
    String last = Long.toString(steps);
    facts.add(String.format(Locale.ROOT, "step %" + last.length() + "d/%s", made, last));
    facts.add("loss " + significant(now.loss()));
    facts.add(rate(now.samples() / now.seconds()) + " samples/s");
    facts.add(seconds(now.seconds()) + "/step");
    facts.add(left((steps - made) * now.seconds()) + " left");
    facts.add(String.format(Locale.ROOT, "idle %.1f %%", 100 * now.idleShare()));
    accuracy.ifPresent(
        share -> facts.add(String.format(Locale.ROOT, "accuracy %.1f %%", 100 * share)));
    return facts;
  }

  private String bar(long step, long lastStep, int room) {
    if (!terminal || room < SHORTEST_BAR) {
      return "";
    }
    int width = room;
    int eighths = (int) (8L * width * Math.min(step, lastStep) / Math.max(1, lastStep));
    String done = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    String open = "·".repeat(width - (eighths + 7) / 8);
    return "  " + (colours ? GREEN + done + PLAIN + DIM + open + PLAIN : done + open);
  }

  private static String significant(double value) {
    if (!Double.isFinite(value)) {
      return Double.toString(value);
    }
    double size = Math.abs(value);
    if (size != 0 && (size < 1e-3 || size >= 1e5)) {
      return String.format(Locale.ROOT, "%.3e", value);
    }
    return String.format(Locale.ROOT, "%.4f", value);
  }

  private static String rate(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%,.0f", value);
  }

  private static String seconds(double value) {
    if (value < 1e-3) {
      return String.format(Locale.ROOT, "%.0f µs", value * 1e6);
    }
    return value < 1
        ? String.format(Locale.ROOT, "%.1f ms", value * 1e3)
        : String.format(Locale.ROOT, "%.2f s", value);
  }

  /** Hours, minutes and seconds that are left. */
  private static String left(double value) {
    long whole = Math.round(Math.max(0, value));
    return whole >= 3600
        ? String.format(Locale.ROOT, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60)
        : String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60);
  }
}
