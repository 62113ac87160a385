package dev.pipewright.predict.run;

/**
 * Bytes of an asynchronous stage on a worker: all versions of its parameters, sums of gradients and
 * optimizer state. It is fed the worker's ops of the stage in order.
 */
interface AsyncBytes {
  /** What there is at a time since the op before; seconds from the start of all steps. */
  double now(double time);

  /** Room is made for what the turn of a hand-on gets, which is at a position of the program. */
  void ask(int at);

  /** All that was asked for has come, and the op at a position of the worker's program runs. */
  void run(int at);

  /** It has ended. */
  void ended(int at);
}
