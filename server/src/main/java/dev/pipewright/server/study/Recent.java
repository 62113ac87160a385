package dev.pipewright.server.study;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The answers that were used last, in memory, by what was asked. Safe for threads. */
public final class Recent<K, V> {
  private final Map<K, V> kept;

  /** Keeps so many. */
  public Recent(int most) {
    kept =
        new LinkedHashMap<>(most, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > most;
          }
        };
  }

  public synchronized Optional<V> find(K asked) {
    return Optional.ofNullable(kept.get(asked));
  }

  public synchronized void keep(K asked, V answer) {
    kept.put(asked, answer);
  }
}
