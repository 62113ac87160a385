package dev.pipewright.predict.run;

/** Bytes of a stage that stays on its worker: all that it ever needs, all the time. */
record ResidentBytes(double bytes) implements AsyncBytes {
  @Override
  public double now(double time) {
    return bytes;
  }

  @Override
  public void ask(int at) {
    // there is room
  }

  @Override
  public void run(int at) {
    // likewise
  }

  @Override
  public void ended(int at) {
    // nothing leaves
  }
}
