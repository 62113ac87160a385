package dev.pipewright.formats;

import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.StageCost.Category;
import dev.pipewright.formats.file.EnumWords;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a device holds at most, in whole bytes, and what for. */
public final class StageMemoryJson {
  private StageMemoryJson() {}

  /**
   * Puts {@code memory_bytes}, {@code memory} by category, whose sum it is exactly, and {@code
   * capacity_bytes}. Where only the sum was measured, there are no categories.
   */
  public static void put(Map<String, Object> stage, PeakMemory memory) {
    long peak = Math.round(memory.peakBytes());
    stage.put("memory_bytes", peak);
    if (memory.states().apart()) {
      stage.put("memory", categories(memory, peak));
    }
    stage.put("capacity_bytes", memory.capacity().value());
  }

  /** Each as the difference of two rounded sums, the last of which is the rounded peak. */
  private static Map<String, Object> categories(PeakMemory memory, long peak) {
    Map<String, Object> object = new LinkedHashMap<>();
    double sum = 0;
    long before = 0;
    for (Map.Entry<Category, Double> part : memory.categories().entrySet()) {
      sum += part.getValue();
      long upTo = Math.min(peak, Math.round(sum)); // sums in another order differ by rounding
      boolean last = part.getKey() == Category.WORKSPACE;
      object.put(EnumWords.word(part.getKey()) + "_bytes", (last ? peak : upTo) - before);
      before = last ? peak : upTo;
    }
    return object;
  }
}
