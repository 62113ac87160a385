package dev.pipewright.app.cli.given;

import dev.pipewright.schedule.Schedule;
import java.util.LinkedHashMap;
import java.util.Map;

/** What {@code check} counts, so that a user sees what a file lacks that ends early. */
public final class Counted {
  private Counted() {}

  static Map<String, Object> of(Schedule schedule) {
    Map<String, Object> counted = new LinkedHashMap<>();
    counted.put("ranks", schedule.ranks());
    counted.put("stages", schedule.placement().depth());
    counted.put("micro_batches", schedule.microBatches() * schedule.placement().chains());
    counted.put("ops", schedule.size());
    return counted;
  }
}
