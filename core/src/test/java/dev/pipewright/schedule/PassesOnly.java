package dev.pipewright.schedule;

/** A schedule without its updates and exchanges. */
public final class PassesOnly {
  private PassesOnly() {}

  public static Schedule of(Schedule schedule) {
    long[][] programs = new long[schedule.ranks()][];
    for (int rank = 0; rank < programs.length; rank++) {
      Program program = new Program();
      for (Op op : schedule.program(rank)) {
        if (op.pass() != Op.Pass.UPDATE && !op.pass().exchanges()) {
          program.add(op.pass(), op.stage(), op.microBatch());
        }
      }
      programs[rank] = program.packed();
    }
    return new Schedule(schedule.name(), schedule.placement(), schedule.microBatches(), programs);
  }
}
