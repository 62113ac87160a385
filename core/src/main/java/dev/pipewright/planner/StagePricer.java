package dev.pipewright.planner;

import dev.pipewright.planner.PlacementSpace.Step;

/**
 * Prices partial pipelines during a search, last stage first. A label is a run of numbers in a
 * shared pool; of two labels for the same layers, devices and number of stages, one that is nowhere
 * larger leads to a step that is no longer.
 */
interface StagePricer {
  /** What became of an attempt to put a stage in front. */
  enum Outcome {
    /** The label was written; the stage keeps its activations. */
    KEEPS,
    /** The label was written; the stage recomputes its activations. */
    RECOMPUTES,
    /** The stage does not fit, or no plan with it can be good enough; a longer one may. */
    SKIP,
    /** Neither this stage nor any longer one on these devices. */
    STOP
  }

  /** Called before a search with the limit that it starts from. */
  void prepare(double limit);

  /** How many numbers a label has. */
  int width();

  /** Writes the label of an empty pipeline. */
  void nothing(double[] pool, int at);

  /**
   * Prepares for stages that end before position {@code end}, on the devices of {@code step}, in
   * front of a label.
   *
   * @param from where the label is in {@code pool}; that of an empty pipeline when {@code behind}
   *     is 0
   * @param behind how many stages it has
   * @param limit step times above this are of no use
   * @return the last position at which the stage may start, since the layers before a shorter one
   *     could not be computed within the limit; -1 when no stage can be of use
   */
  int open(double[] pool, int from, int behind, int end, Step step, double limit);

  /** Writes the label with a stage {@code first..end-1} in front, as prepared, to {@code to}. */
  Outcome stage(double[] pool, int first, int to);

  /**
   * No plan that a label can become is faster, when the positions before {@code first} and {@code
   * free} devices are left.
   */
  double bound(double[] pool, int at, int first, int free);

  /**
   * Whether labels of different numbers of stages can be compared: those with fewer then cover
   * those with more. Otherwise what a stage costs depends on how many are behind it.
   */
  boolean comparesAcrossStages();

  /**
   * Whether whatever follows from label {@code b} also follows, no slower, from {@code a}: both are
   * for the same layers and devices.
   */
  boolean covers(double[] pool, int a, int b);

  /** The step time of a label that covers everything. */
  double seconds(double[] pool, int at);
}
