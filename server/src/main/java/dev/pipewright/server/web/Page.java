package dev.pipewright.server.web;

import io.helidon.webserver.http.HttpRules;
import java.util.Optional;

/** A page: its word in the navigation and the requests that it answers. */
public interface Page {
  /**
   * An entry of the navigation.
   *
   * @param path that it leads to
   */
  record Entry(String word, String path) {}

  /** Its entry; empty for pages that others lead to. */
  Optional<Entry> entry();

  /** Adds the requests that it answers. */
  void route(HttpRules rules);
}
