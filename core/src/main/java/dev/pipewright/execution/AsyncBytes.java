package dev.pipewright.execution;

/**
 * What a stage's parameters in all their versions, sums of their gradients, and what the update
 * rule remembers take up on a worker while steps flow; bytes. It is told of the worker's ops of the
 * stage in their order.
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
