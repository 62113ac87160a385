package dev.pipewright.formats.memory;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.sim.CyclicMemory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes the most that workers in step and cyclic workers hold as one object of JSON. */
public final class MemoryCurveJson {
  private MemoryCurveJson() {}

  /**
   * Bytes are per worker and above the baseline.
   *
   * @param source the recorded curve's file
   * @param worker what one worker holds beyond {@code baseline}
   */
  public static String text(
      String source, CyclicMemory worker, double baseline, List<Integer> workers) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("source", source);
    object.put("period_s", worker.period());
    object.put("baseline_bytes", baseline);
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int count : workers) {
      double cyclic = worker.cyclic(count) / count;
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("workers", count);
      row.put("dp_max_bytes", worker.most());
      row.put("cyclic_max_bytes", cyclic);
      row.put("ratio", cyclic / worker.most());
      row.put("reduction", 1 - cyclic / worker.most());
      rows.add(row);
    }
    object.put("rows", rows);
    return JsonText.of(object);
  }
}
