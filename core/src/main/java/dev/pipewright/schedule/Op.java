package dev.pipewright.schedule;

/**
 * One step of a rank's program: which work, never how long or how large. Transfers between ranks
 * follow from the order: an output is sent as soon as it exists.
 *
 * @param stage the stage that computes; in a schedule of several chains counted on, chain by chain
 * @param microBatch the micro-batch it computes on, counted in its chain; of ops that belong to no
 *     micro-batch their own number
 */
public record Op(Pass pass, int stage, int microBatch) {
  /** The kinds of work, with the letter that pictures and PyTorch's files use. */
  public enum Pass {
    FORWARD("F", 0),
    /** The whole backward pass: both gradients in one. */
    BACKWARD("B", 1),
    /** The gradient of the input, which the stage before waits for. */
    BACKWARD_INPUT("I", 2),
    /** The gradient of the weights, which no op waits for before the update. */
    BACKWARD_WEIGHT("W", 3),
    /** A forward pass again, to have its activations for the backward pass. */
    RECOMPUTE("R", 4),
    /** The optimizer's step on a stage's parameters; numbered by training step. */
    UPDATE("U", 5),
    /**
     * All ranks that hold the same stage add up its gradients: one collective operation of those
     * with the same number.
     */
    REDUCE("A", 6),
    /** All ranks that hold the same stage get its whole parameters: likewise collective. */
    GATHER("G", 7),
    /**
     * Takes over what the rank whose turn was before holds of the same stage, its parameters or the
     * sum of gradients so far, as soon as that rank's op behind its own turn has ended (a
     * recomputation and the op it is for count as one); the number is the turn. The next op of the
     * stage in the program waits for it.
     */
    HAND_ON("H", 8);

    private final String letter;
    private final int code;

    Pass(String letter, int code) {
      this.letter = letter;
      this.code = code;
    }

    /** A small number of its own, for packed programs and tables. */
    public int code() {
      return code;
    }

    public String letter() {
      return letter;
    }

    /** Whether ranks exchange parameters or gradients, overlapped with computation. */
    public boolean exchanges() {
      return this == REDUCE || this == GATHER || this == HAND_ON;
    }

    /**
     * Whether a rank is done with what it took over before it: a recomputation only prepares the
     * backward pass, which is.
     */
    public boolean endsTurn() {
      return !exchanges() && this != RECOMPUTE;
    }

    /** Whether the stage before waits for it. */
    public boolean propagates() {
      return this == BACKWARD || this == BACKWARD_INPUT;
    }

    /** Whether the activations of its micro-batch are free behind it. */
    public boolean releases() {
      return this == BACKWARD || this == BACKWARD_WEIGHT;
    }
  }

  @Override
  public String toString() {
    return pass.letter() + microBatch;
  }
}
