package dev.pipewright.plan;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;

/**
 * Where the steps of an asynchronous program end: on each rank, a step ends with the last backward
 * pass of its micro-batches and the updates after it.
 */
public final class AsyncSteps {
  private AsyncSteps() {}

  /**
   * The position behind each step in the program of a rank; the last one's is the program's end.
   */
  public static int[] ends(Assignment all, int rank) {
    long[] program = all.schedule().packed(rank);
    int ofStep = all.asyncPipeline().orElseThrow().microBatches();
    int[] found = new int[all.steps()];
    for (int i = 0; i < program.length; i++) {
      if (Schedule.pass(program[i]) == Pass.BACKWARD) {
        int end = i + 1;
        while (end < program.length && updates(Schedule.pass(program[end]))) {
          end++;
        }
        int microBatch = all.inFlow(Schedule.stage(program[i]), Schedule.microBatch(program[i]));
        found[microBatch / ofStep] = end;
      }
    }
    for (int step = 1; step < found.length; step++) { // without a micro-batch for this rank
      found[step] = Math.max(found[step], found[step - 1]);
    }
    found[found.length - 1] = program.length;
    return found;
  }

  private static boolean updates(Pass pass) {
    return pass == Pass.UPDATE || pass == Pass.REDUCE;
  }
}
