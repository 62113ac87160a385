package dev.pipewright.schedule.check;

import java.util.Arrays;

/** Numbers keys in the order in which they are first met, from 0 on. */
final class KeyNumbers {
  private static final int NONE = -1;
  private static final long SPREAD = 0x9E3779B97F4A7C15L; // 2^64 over the golden ratio

  private long[] keys = new long[16];
  private int[] slots = new int[64]; // key numbers, by hash; at most half full
  private int size;

  KeyNumbers() {
    Arrays.fill(slots, NONE);
  }

  int size() {
    return size;
  }

  long key(int number) {
    return keys[number];
  }

  /** The number of a key; −1 of one that was not met. */
  int find(long key) {
    return slots[slot(key)];
  }

  /** The number of a key, a new one where it was not met. */
  int of(long key) {
    int slot = slot(key);
    if (slots[slot] == NONE) {
      slots[slot] = size;
      if (size == keys.length) {
        keys = Arrays.copyOf(keys, 2 * size);
      }
      keys[size++] = key;
      if (4 * size > 2 * slots.length) {
        grow();
      }
      return size - 1;
    }
    return slots[slot];
  }

  private int slot(long key) {
    int mask = slots.length - 1;
    int slot = (int) ((key * SPREAD) >>> 32) & mask;
    while (slots[slot] != NONE && keys[slots[slot]] != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    slots = new int[4 * slots.length];
    Arrays.fill(slots, NONE);
    for (int number = 0; number < size; number++) {
      slots[slot(keys[number])] = number;
    }
  }
}
