package dev.pipewright.formats.answer;

import dev.pipewright.cost.Throughput;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.json.JsonText;
import java.util.LinkedHashMap;
import java.util.Map;

/** What every answer says of the training that it is about, as members of an object. */
public final class TrainingFiguresJson {
  private TrainingFiguresJson() {}

  /** The members, in order. */
  public static Map<String, Object> members(TrainingFigures figures) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("optimizer", EnumWords.word(figures.training().optimizer()));
    members.put("precision", figures.training().precision().word());
    figures.reserve().ifPresent(share -> members.put("memory_reserve", share));
    members.put("global_batch", figures.globalBatch());
    members.put("micro_batch_per_rank", figures.largestMicroBatch());
    figures.throughput().ifPresent(throughput -> put(members, throughput));
    return members;
  }

  /** The rates alone. */
  static void put(Map<String, Object> members, Throughput throughput) {
    members.put("samples_per_s", throughput.samplesPerSecond());
    throughput.tokensPerSecond().ifPresent(rate -> members.put("tokens_per_s", rate));
    throughput.flopPerSecond().ifPresent(rate -> members.put("tflops_per_device", rate / 1e12));
    throughput.utilization().ifPresent(share -> members.put("mfu", share));
  }

  /**
   * An answer with the members that it lacks.
   *
   * @param answer an object as {@link JsonText#of} writes it
   */
  public static String added(String answer, TrainingFigures figures) {
    Map<String, Object> lacking = members(figures);
    lacking.keySet().removeIf(key -> answer.contains("\n  \"" + key + "\": "));
    return lacking.isEmpty() ? answer : JsonText.joined(answer, lacking);
  }
}
