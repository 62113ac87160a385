package dev.pipewright.runtime.launch;

/**
 * A worker's position in its program.
 *
 * @param step counted from 0, as all of them
 * @param position of the op in the program
 * @param op the letter of its pass
 * @param microBatch its own number where it belongs to no micro-batch
 */
public record Place(long step, int position, char op, int stage, int microBatch) {
  /** Stands for a checkpoint in place of a pass. */
  public static final char CHECKPOINT = 'C';

  /** Stands for an evaluation on held-out samples in place of a pass. */
  public static final char HELD_OUT = 'O';

  private static String name(char op) {
    return switch (op) {
      case 'F' -> "forward";
      case 'B' -> "backward";
      case 'I' -> "input gradient";
      case 'W' -> "weight gradient";
      case 'R' -> "recomputation";
      case 'U' -> "update";
      case 'A' -> "reduction";
      case 'G' -> "gathering";
      case 'H' -> "handing on";
      case CHECKPOINT -> "checkpoint";
      case HELD_OUT -> "held-out samples";
      default -> "op " + op;
    };
  }

  /** {@code stage 1, backward of micro-batch 3 in step 17}. */
  @Override
  public String toString() {
    String number = "FBIWR".indexOf(op) >= 0 ? " of micro-batch " + microBatch : "";
    return "stage " + stage + ", " + name(op) + number + " in step " + step;
  }
}
