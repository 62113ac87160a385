package dev.pipewright.schedule.periodic;

import dev.pipewright.schedule.Op;

/**
 * One op of a pattern of k batches: in period {@code j} it starts at {@code j · period + start} and
 * works on batch {@code j · k + shift}.
 *
 * @param start from 0 to less than the period
 */
public record RepeatedOp(Op.Pass pass, int stage, double start, int shift) {
  /** The op that works on {@code batch} at {@code seconds}, be it in whichever period. */
  public static RepeatedOp at(
      Op.Pass pass, int stage, int batch, double seconds, double period, int batches) {
    long turn = (long) Math.floor(seconds / period);
    double start = seconds - turn * period;
    if (start >= period) { // the quotient was rounded down
      turn++;
    }
    boolean within = 0 <= start && start < period;
    int shift = Math.toIntExact(batch - turn * batches);
    return new RepeatedOp(pass, stage, within ? start : 0, shift);
  }

  /** The same op with its batches counted from another one. */
  RepeatedOp earlierBy(int batches) {
    return new RepeatedOp(pass, stage, start, shift - batches);
  }

  /** As the paper draws it: the letter and the stage counted from 1, the shift raised. */
  @Override
  public String toString() {
    return "%s%d^%d".formatted(pass.letter(), stage + 1, shift);
  }
}
