package dev.pipewright.model;

import java.util.Arrays;
import java.util.BitSet;

/**
 * A set of layers none of which leads to another.
 *
 * @param before the antichain and all its ancestors, which name it as well as its members would
 * @param augmented what a cut after it pays for: the layers of {@code before} that are read by a
 *     layer beyond it, or by none at all; ascending
 * @param foundFrom the place, in the order of discovery, of the antichain that it extends, or -1
 * @param looks at edges that it took to find it
 */
record Antichain(BitSet before, int[] augmented, int foundFrom, long looks) {
  static Antichain first(int layer) {
    BitSet only = new BitSet();
    only.set(layer);
    return new Antichain(only, new int[] {layer}, -1, 0);
  }

  int[] beyond(LayerGraph graph) {
    BitSet seen = (BitSet) before.clone();
    Numbers readers = new Numbers();
    for (int layer : augmented) {
      for (int successor : graph.successors(layer)) {
        if (!seen.get(successor)) {
          seen.set(successor);
          readers.add(successor);
        }
      }
    }
    return readers.toArray();
  }

  /** With {@code layer} and those of its ancestors that are not there yet. */
  Antichain reaching(int layer, LayerGraph graph, int from) {
    BitSet all = (BitSet) before.clone();
    all.set(layer);
    Numbers fresh = new Numbers();
    fresh.add(layer);
    long looks = 0;
    for (int i = 0; i < fresh.size; i++) {
      looks += graph.predecessors(fresh.values[i]).length;
      for (int predecessor : graph.predecessors(fresh.values[i])) {
        if (!all.get(predecessor)) {
          all.set(predecessor);
          fresh.add(predecessor);
        }
      }
    }
    Numbers open = new Numbers();
    open.addOpen(augmented, graph, all);
    open.addOpen(fresh.toArray(), graph, all);
    int[] members = open.toArray();
    Arrays.sort(members);
    return new Antichain(all, members, from, looks);
  }

  /** A list of layer numbers that grows. */
  private static final class Numbers {
    private int[] values = new int[8];
    private int size;

    void add(int value) {
      if (size == values.length) {
        values = Arrays.copyOf(values, 2 * size);
      }
      values[size++] = value;
    }

    /** Those of {@code layers} that a layer beyond {@code before} reads, or none at all. */
    void addOpen(int[] layers, LayerGraph graph, BitSet before) {
      for (int layer : layers) {
        int[] successors = graph.successors(layer);
        boolean open = successors.length == 0;
        for (int successor : successors) {
          open |= !before.get(successor);
        }
        if (open) {
          add(layer);
        }
      }
    }

    int[] toArray() {
      return Arrays.copyOf(values, size);
    }
  }
}
