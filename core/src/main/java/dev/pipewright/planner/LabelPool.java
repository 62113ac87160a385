package dev.pipewright.planner;

import java.util.Arrays;

/**
 * Partial plans, as columns of numbers: a label's values, the label behind it, and the stage that
 * was put in front of that.
 */
final class LabelPool {
  private final int most; // numbers of all labels
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
    this(width, Integer.MAX_VALUE - 8); // elements of an array
  }

  LabelPool(int width, int most) {
    this.width = width;
    this.most = most;
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

  /** Makes sure that one more label can be written at {@link #size}; false where memory is full. */
  boolean reserve() {
    return size < parent.length || (parent.length <= most / 2 / width && grown());
  }

  /** Changes nothing where there is no room for all columns. */
  private boolean grown() {
    int capacity = 2 * parent.length;
    try {
      double[] moreValues = Arrays.copyOf(values, capacity * width);
      int[] moreParents = Arrays.copyOf(parent, capacity);
      int[] moreFirsts = Arrays.copyOf(first, capacity);
      int[] moreStates = Arrays.copyOf(state, capacity);
      int[] moreSteps = Arrays.copyOf(stepIndex, capacity);
      int[] moreStages = Arrays.copyOf(stages, capacity);
      int[] moreSiblings = Arrays.copyOf(sibling, capacity);
      recompute = Arrays.copyOf(recompute, capacity);
      values = moreValues;
      parent = moreParents;
      first = moreFirsts;
      state = moreStates;
      stepIndex = moreSteps;
      stages = moreStages;
      sibling = moreSiblings;
      return true;
    } catch (OutOfMemoryError full) { // of these columns, which are by far the largest thing
      return false;
    }
  }

  int at(int label) {
    return label * width;
  }
}
