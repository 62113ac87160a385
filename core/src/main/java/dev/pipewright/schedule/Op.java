package dev.pipewright.schedule;

/**
 * One step of a rank's program: which work, never how long or how large. Transfers between ranks
 * follow from the order: an output is sent as soon as it exists.
 *
 * @param stage the stage that computes
 * @param microBatch the micro-batch it computes on
 */
public record Op(Pass pass, int stage, int microBatch) {
  /** The kinds of work, with the letter that pictures use. */
  public enum Pass {
    FORWARD("F", 0),
    BACKWARD("B", 1);

    private final String letter;
    private final int code;

    Pass(String letter, int code) {
      this.letter = letter;
      this.code = code;
    }

    /** A small number of its own, for packed programs and tables. */
    int code() {
      return code;
    }

    public String letter() {
      return letter;
    }
  }

  @Override
  public String toString() {
    return pass.letter() + microBatch;
  }
}
