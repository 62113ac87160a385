package dev.pipewright.runtime;

import dev.pipewright.plan.AsyncPipeline;
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

  /** Four stages, two on each of two ranks. */
  public static AsyncPipeline.Repeated twoOnEach() {
    return waitingNowhere(List.of(0, 1, 0, 1));
  }

  /** Three stages, the first and the last on one rank. */
  public static AsyncPipeline.Repeated endsTogether() {
    return waitingNowhere(List.of(0, 1, 0));
  }

  /** A batch every four seconds, which goes there and back without a pause. */
  private static AsyncPipeline.Repeated waitingNowhere(List<Integer> ranks) {
    List<RepeatedOp> ops = new ArrayList<>();
    for (int stage = 0; stage < ranks.size(); stage++) {
      int back = 2 * ranks.size() - 1 - stage;
      ops.add(RepeatedOp.at(Pass.FORWARD, stage, 0, stage, 4, 1));
      ops.add(RepeatedOp.at(Pass.BACKWARD, stage, 0, back, 4, 1));
    }
    return AsyncPipeline.Repeated.of(ranks, 4, 1, ops);
  }

  /** Of so many stages, each on its rank, the last of three batches dropped. */
  public static AsyncPipeline.Repeated dropping(int stages) {
    StageLoad each = new StageLoad(1, 1, 0, 0);
    Pattern pattern = KPeriodic.of(Collections.nCopies(stages, each), 2);
    List<Integer> ranks = IntStream.range(0, stages).boxed().toList();
    return AsyncPipeline.Repeated.of(ranks, pattern.period(), pattern.batches(), pattern.ops());
  }
}
