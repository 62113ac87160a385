package dev.pipewright.schedule.search;

import java.util.Arrays;

/**
 * Programs that take a few micro-batches all the way there and back before the next: they run with
 * two activations for each of these on every rank, less than any building block needs.
 */
final class VGroups {
  private VGroups() {}

  /** By rank; all alike. */
  static byte[][] programs(int ranks, int microBatches, int together) {
    byte[] program = new byte[6 * microBatches];
    int size = 0;
    for (int first = 0; first < microBatches; first += together) {
      int count = Math.min(together, microBatches - first);
      for (int kind = 0; kind < 6; kind++) {
        Arrays.fill(program, size, size + count, (byte) Math.min(kind, 4));
        size += count;
      }
    }
    byte[][] programs = new byte[ranks][];
    Arrays.fill(programs, program);
    return programs;
  }
}
