package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;

/**
 * One rank's program of {@link Chimera} and {@link Hanayo}. Let every op take one slot, and
 * micro-batch {@code k} of a unit enter in slot {@code 2k}: it reaches the {@code s}-th of {@code
 * S} stages forwards in slot {@code s + 2k}, backwards in {@code 2S − 1 − s + 2k}. A rank's stages
 * on the way there then use every other slot, those on the way back the slots between, and both
 * without a gap from the first op of the first unit to the last of the last: units of {@code
 * places} micro-batches follow one another every {@code 2S} slots.
 *
 * <pre>
 *   place 0 of 2, one unit:   there  F0   F1   B0   B1        back's backward passes
 *                             back             F0   F1   B0   B1   there's
 * </pre>
 */
final class WaveProgram {
  private final Program program;
  private final int places;
  private final int microBatches;

  /** The ops of one way, unit by unit, and in a unit stage by stage. */
  private final class Way {
    private final long[] turns; // each with micro-batch 0
    private int unit; // its first micro-batch
    private int turn;
    private int inUnit;

    Way(long... turns) {
      this.turns = turns;
    }

    /** Adds the next op, if there is such a micro-batch. */
    void next() {
      int microBatch = unit + inUnit;
      if (microBatch < microBatches) {
        program.add(turns[turn] + microBatch);
      }
      if (++inUnit == places) {
        turn();
      }
    }

    private void turn() {
      inUnit = 0;
      if (++turn == turns.length) {
        turn = 0;
        unit += places;
      }
    }
  }

  private WaveProgram(int places, int stages, int microBatches) {
    this.program = new Program(Math.multiplyExact(2 * stages, microBatches));
    this.places = places;
    this.microBatches = microBatches;
  }

  /**
   * @param place where the way there enters: 0 for the first
   * @param stages there and back in turn, so an even number
   * @param microBatches each visits all stages; where they fill no unit, its last slots stay empty
   */
  static long[] of(int place, int places, int[] stages, int microBatches) {
    int rounded = Math.multiplyExact(Math.ceilDiv(microBatches, places), places);
    int length = Math.multiplyExact(rounded, stages.length);
    int ahead = places - 1 - place; // ops of the way there before the first of the way back
    WaveProgram wave = new WaveProgram(places, stages.length, microBatches);
    Way there = wave.new Way(turns(stages, 0));
    Way back = wave.new Way(turns(stages, 1));
    for (int i = 0; i < ahead; i++) {
      there.next();
    }
    for (int i = ahead; i < length; i++) {
      there.next();
      back.next();
    }
    for (int i = 0; i < ahead; i++) {
      back.next();
    }
    return wave.program.packed();
  }

  /**
   * The visits of one way: forward along the stages, then backward.
   *
   * @param way 0 there, 1 back
   */
  private static long[] turns(int[] stages, int way) {
    long[] turns = new long[stages.length];
    for (int i = 0; i < turns.length; i++) {
      int turn = 2 * i + way;
      boolean forward = turn < stages.length;
      int visit = forward ? turn : 2 * stages.length - 1 - turn;
      turns[i] = Schedule.pack(forward ? Pass.FORWARD : Pass.BACKWARD, stages[visit], 0);
    }
    return turns;
  }
}
