package dev.pipewright.cost;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * Values that are computed once for each key, for several threads. Two that ask for the same at the
 * same time may both compute it; reading takes no lock. For few keys: each new one copies all.
 */
final class Remembered<K, V> {
  private volatile Map<K, V> known = Map.of();

  /** The value of a key. */
  V of(K key, Function<K, V> compute) {
    V value = known.get(key);
    return value != null ? value : remember(key, compute.apply(key));
  }

  private synchronized V remember(K key, V value) {
    Map<K, V> more = new HashMap<>(known);
    more.put(key, value);
    known = more;
    return value;
  }
}
