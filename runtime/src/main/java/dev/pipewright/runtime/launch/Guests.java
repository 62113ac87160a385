package dev.pipewright.runtime.launch;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Processes that have been let in and are not heard yet: their connections are closed with the run,
 * also of those that come while it ends. Safe for several threads.
 */
final class Guests implements AutoCloseable {
  private final Set<Control> unheard = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /** Whether a guest may stay; one that comes after the end is closed. */
  boolean welcome(Control control) {
    unheard.add(control);
    if (closed) {
      control.close();
      return false;
    }
    return true;
  }

  /** A guest is heard now; whoever hears it also closes it. */
  void hear(Control control) {
    unheard.remove(control);
  }

  @Override
  public void close() {
    closed = true; // before those that came while the run ended are closed
    unheard.forEach(Control::close);
  }
}
