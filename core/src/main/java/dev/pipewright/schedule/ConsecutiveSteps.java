package dev.pipewright.schedule;

/**
 * Several synchronous steps one behind the other. No rank waits for the others between two steps,
 * so one that is done early begins the next step early.
 */
public final class ConsecutiveSteps {
  private ConsecutiveSteps() {}

  /**
   * The schedule that runs {@code step} so many times, with as many times the micro-batches.
   *
   * @param step with its {@link StepEnd}, one reduction and update of each stage on each rank
   */
  public static Schedule of(Schedule step, int steps) {
    long[][] programs = new long[step.ranks()][];
    for (int rank = 0; rank < programs.length; rank++) {
      long[] once = step.packed(rank);
      Program program = new Program(steps * once.length);
      for (int i = 0; i < steps; i++) {
        for (long op : once) {
          boolean ofStep = Schedule.pass(op) == Op.Pass.UPDATE || Schedule.pass(op).exchanges();
          int number = ofStep ? i : i * step.microBatches() + Schedule.microBatch(op);
          program.add(Schedule.pass(op), Schedule.stage(op), number);
          if (Schedule.isJoined(op)) {
            program.join();
          }
        }
      }
      programs[rank] = program.packed();
    }
    return new Schedule(step.name(), step.placement(), steps * step.microBatches(), programs);
  }
}
