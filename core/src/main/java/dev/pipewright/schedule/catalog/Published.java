package dev.pipewright.schedule.catalog;

import dev.pipewright.schedule.Bubble;
import java.util.Optional;

/**
 * What is known of a schedule without making it.
 *
 * @param paper where it is published: authors, title or name, venue and year
 * @param counts for which numbers it exists
 * @param bubble empty where no closed form is known
 */
public record Published(String paper, CountRule counts, Optional<Bubble> bubble) {
  static Published in(String paper) {
    return new Published(paper, CountRule.ANY, Optional.empty());
  }
}
