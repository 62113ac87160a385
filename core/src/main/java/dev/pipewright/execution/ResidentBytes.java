package dev.pipewright.execution;

/** Of a stage that is where it is, as if all that it ever needs were there all the time. */
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
