package dev.pipewright.formats;

import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.RankMemory.Category;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What ranks hold when they hold most, by category; in whole bytes. */
final class RankMemoryJson {
  private RankMemoryJson() {}

  static List<Map<String, Object>> list(List<RankMemory> ranks) {
    return ranks.stream().map(RankMemoryJson::object).toList();
  }

  private static Map<String, Object> object(RankMemory rank) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("stage", rank.rank());
    object.put("peak_bytes", Math.round(rank.peak().bytes()));
    object.put("at_s", rank.peak().seconds());
    for (Category category : Category.values()) {
      String key = category.name().toLowerCase(Locale.ROOT) + "_bytes";
      object.put(key, Math.round(rank.peak().of(category)));
    }
    return object;
  }
}
