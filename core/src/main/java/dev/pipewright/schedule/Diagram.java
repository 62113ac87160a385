package dev.pipewright.schedule;

/** A schedule as text: one line per rank, its ops in order. */
public final class Diagram {
  private Diagram() {}

  /** {@code 0 | F0 F1 B0 B1} and so on, each line ended by a newline. */
  public static String of(Schedule schedule) {
    StringBuilder text = new StringBuilder();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      text.append(rank).append(" |");
      for (Op op : schedule.program(rank)) {
        text.append(' ').append(op);
      }
      text.append('\n');
    }
    return text.toString();
  }
}
