package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;

/**
 * In which order a rank that runs several stages takes micro-batches through them: a group of
 * micro-batches through the first of its stages, the same group through the next and so on, then
 * the next group; backwards from its last stage to its first.
 *
 * <p>A last group that is not full keeps the places of the micro-batches it lacks, as gaps: what
 * remains of an order that can run can run.
 */
final class InterleavedOrder {
  /** A place without a micro-batch. */
  static final long GAP = -1;

  private final Pass pass;
  private final int ranks;
  private final int rank;
  private final int chunks;
  private final int microBatches;
  private final int group;
  private long op; // of the turn, with micro-batch 0
  private int first; // of the group
  private int turn; // chunks that the group has passed
  private int inGroup;

  InterleavedOrder(Pass pass, int ranks, int rank, int chunks, int microBatches, int group) {
    this.pass = pass;
    this.ranks = ranks;
    this.rank = rank;
    this.chunks = chunks;
    this.microBatches = microBatches;
    this.group = group;
    this.op = op();
  }

  boolean hasNext() {
    return first < microBatches;
  }

  /** The next op, packed, or {@link #GAP}. */
  long next() {
    int microBatch = first + inGroup;
    long next = microBatch < microBatches ? op + microBatch : GAP;
    if (++inGroup == group) {
      turn();
    }
    return next;
  }

  private void turn() {
    inGroup = 0;
    if (++turn == chunks) {
      turn = 0;
      first += group;
    }
    op = op();
  }

  private long op() {
    int chunk = pass == Pass.FORWARD ? turn : chunks - 1 - turn;
    return Schedule.pack(pass, chunk * ranks + rank, 0);
  }
}
