package dev.pipewright.runtime;

import dev.pipewright.plan.Flow;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.periodic.KPeriodic;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Patterns that repeat, of passes that take a second each. */
public final class Patterns {
  private Patterns() {}

  /** Four stages, two on each of two ranks; a batch every four seconds waits nowhere. */
  public static Flow.Repeated twoOnEach() {
    int stages = 4;
    List<RepeatedOp> ops = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      ops.add(RepeatedOp.at(Pass.FORWARD, stage, 0, stage, stages, 1));
      ops.add(RepeatedOp.at(Pass.BACKWARD, stage, 0, 2 * stages - 1 - stage, stages, 1));
    }
    return Flow.Repeated.of(List.of(0, 1, 0, 1), stages, 1, ops);
  }

  /** Of so many stages, each on its rank, the last of three batches dropped. */
  public static Flow.Repeated dropping(int stages) {
    StageLoad each = new StageLoad(1, 1, 0, 0);
    Pattern pattern = KPeriodic.of(Collections.nCopies(stages, each), 2);
    List<Integer> ranks = IntStream.range(0, stages).boxed().toList();
    return Flow.Repeated.of(ranks, pattern.period(), pattern.batches(), pattern.ops());
  }
}
