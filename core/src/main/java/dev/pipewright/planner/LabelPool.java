package dev.pipewright.planner;

import java.util.Arrays;

/**
 * Partial plans, as columns of numbers: a label's values, the label behind it, and the stage that
 * was put in front of that.
 */
final class LabelPool {
  final int width;
  double[] values;
  int[] parent;
  int[] first;
  int[] state;
  int[] stepIndex; // among the steps of the parent's state
  int[] stages;
  int[] sibling; // next label in the same bucket
  boolean[] recompute;
  int size;

  LabelPool(int width) {
    this.width = width;
    int capacity = 1 << 10;
    values = new double[capacity * width];
    parent = new int[capacity];
    first = new int[capacity];
    state = new int[capacity];
    stepIndex = new int[capacity];
    stages = new int[capacity];
    sibling = new int[capacity];
    recompute = new boolean[capacity];
  }

  /** Makes sure that one more label can be written at {@link #size}. */
  void reserve() {
    if (size < parent.length) {
      return;
    }
    int capacity = 2 * parent.length;
    values = Arrays.copyOf(values, capacity * width);
    parent = Arrays.copyOf(parent, capacity);
    first = Arrays.copyOf(first, capacity);
    state = Arrays.copyOf(state, capacity);
    stepIndex = Arrays.copyOf(stepIndex, capacity);
    stages = Arrays.copyOf(stages, capacity);
    sibling = Arrays.copyOf(sibling, capacity);
    recompute = Arrays.copyOf(recompute, capacity);
  }

  int at(int label) {
    return label * width;
  }
}
