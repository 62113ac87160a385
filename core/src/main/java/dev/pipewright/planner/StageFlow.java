package dev.pipewright.planner;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * How micro-batches flow through the stages of a chain, whatever these take.
 *
 * @param ranks of the stages; −1 where that is not known
 * @param inFlight of each stage: micro-batches at most whose forward pass has begun and whose
 *     inputs' gradients are not yet there
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record StageFlow(int[] ranks, int[] inFlight, int microBatches) {
  /** Of the first chain of a schedule. */
  static StageFlow of(Schedule schedule) {
    Placement placement = schedule.placement();
    int depth = placement.depth();
    int[] ranks = new int[depth];
    Arrays.setAll(ranks, placement::rankOf);
    int[] now = new int[depth];
    int[] most = new int[depth];
    for (int rank = 0; rank < placement.ranks(); rank++) {
      for (long op : schedule.packed(rank)) {
        int stage = Schedule.stage(op);
        Pass pass = Schedule.pass(op);
        int together = Schedule.isJoined(op) ? 1 : 0; // another one begins with it
        if (stage < depth && pass == Pass.FORWARD) {
          most[stage] = Math.max(most[stage], ++now[stage]);
        } else if (stage < depth && pass.propagates()) {
          most[stage] = Math.max(most[stage], now[stage] + together);
          now[stage]--;
        }
      }
    }
    return new StageFlow(ranks, most, schedule.microBatches());
  }

  /** In an order that is not known. */
  static StageFlow of(Placement placement, int microBatches) {
    int[] ranks = new int[placement.depth()];
    int[] most = new int[placement.depth()];
    Arrays.setAll(ranks, placement::rankOf);
    Arrays.fill(most, microBatches);
    return new StageFlow(ranks, most, microBatches);
  }

  /** Of stages that may be anywhere. */
  static StageFlow unknown(int stages, int microBatches) {
    int[] ranks = new int[stages];
    int[] most = new int[stages];
    Arrays.fill(ranks, -1);
    Arrays.fill(most, microBatches);
    return new StageFlow(ranks, most, microBatches);
  }

  int stages() {
    return ranks.length;
  }

  /** Whether a message goes from a stage to the next. */
  boolean crosses(int stage) {
    return stage + 1 < ranks.length && ranks[stage] != ranks[stage + 1];
  }

  /** Pairs of a rank that sends and one that receives, there and back; 1 where there are none. */
  int ways() {
    Set<List<Integer>> pairs = new HashSet<>();
    for (int stage = 0; stage < ranks.length; stage++) {
      if (crosses(stage)) {
        pairs.add(List.of(ranks[stage], ranks[stage + 1]));
        pairs.add(List.of(ranks[stage + 1], ranks[stage]));
      }
    }
    return Math.max(1, pairs.size());
  }
}
