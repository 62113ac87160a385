package dev.pipewright.runtime.data;

import java.util.List;
import java.util.function.LongUnaryOperator;

/**
 * Some of the samples of a set, numbered anew.
 *
 * @param number what the set calls each
 */
record Selection(Dataset of, long samples, LongUnaryOperator number) implements Dataset {
  /** One of so many is held out. */
  private static final long TENTH = 10;

  static Selection section(Dataset of, long first, long samples) {
    return new Selection(of, samples, k -> first + k);
  }

  /** Every tenth is held out: the tenth, the twentieth and so on. */
  static TrainingData everyTenthHeldOut(Dataset all) {
    long heldOut = all.samples() / TENTH;
    return new TrainingData(
        new Selection(all, all.samples() - heldOut, k -> k + k / (TENTH - 1)),
        new Selection(all, heldOut, k -> TENTH * k + TENTH - 1));
  }

  /** The last tenth is held out. */
  static TrainingData lastTenthHeldOut(Dataset all) {
    long heldOut = all.samples() / TENTH;
    return new TrainingData(
        section(all, 0, all.samples() - heldOut), section(all, all.samples() - heldOut, heldOut));
  }

  @Override
  public List<HostValues> inputs(long[] numbers) {
    return of.inputs(ofTheSet(numbers));
  }

  @Override
  public HostValues target(long[] numbers) {
    return of.target(ofTheSet(numbers));
  }

  private long[] ofTheSet(long[] numbers) {
    long[] found = new long[numbers.length];
    for (int i = 0; i < found.length; i++) {
      found[i] = number.applyAsLong(numbers[i]);
    }
    return found;
  }
}
