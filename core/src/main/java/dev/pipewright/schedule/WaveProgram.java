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
  private final Program program = new Program();
  private final int places;
  private final int[] stages; // of the rank, in the order in which a micro-batch visits them
  private final int microBatches;

  private WaveProgram(int places, int[] stages, int microBatches) {
    this.places = places;
    this.stages = stages;
    this.microBatches = microBatches;
  }

  /**
   * @param place where the way there enters: 0 for the first
   * @param stages there and back in turn, so an even number
   * @param microBatches each visits all stages; where they fill no unit, its last slots stay empty
   */
  static long[] of(int place, int places, int[] stages, int microBatches) {
    WaveProgram wave = new WaveProgram(places, stages, microBatches);
    int rounded = Math.multiplyExact(Math.ceilDiv(microBatches, places), places);
    int length = Math.multiplyExact(rounded, stages.length);
    int ahead = places - 1 - place; // ops of the way there before the first of the way back
    for (int i = 0; i < length + ahead; i++) {
      if (i < length) {
        wave.add(i, 0);
      }
      if (i >= ahead) {
        wave.add(i - ahead, 1);
      }
    }
    return wave.program.packed();
  }

  /**
   * Adds the {@code i}-th op of one way, if there is such a micro-batch.
   *
   * @param way 0 there, 1 back
   */
  private void add(int i, int way) {
    int group = i / places;
    int unit = group / stages.length;
    int microBatch = unit * places + i % places;
    if (microBatch >= microBatches) {
      return;
    }
    int turn = 2 * (group % stages.length) + way;
    boolean forward = turn < stages.length;
    int visit = forward ? turn : 2 * stages.length - 1 - turn;
    program.add(forward ? Pass.FORWARD : Pass.BACKWARD, stages[visit], microBatch);
  }
}
