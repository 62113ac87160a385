package dev.pipewright.formats.schedule;

import dev.pipewright.sim.Jitter;
import dev.pipewright.sim.MonteCarlo;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.DoubleFunction;

/** What many runs with durations that differ took. */
public record JitterJson(Jitter jitter, MonteCarlo runs) {
  /** Its member of an answer. */
  public Map<String, Object> object() {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("spread", jitter.spread());
    object.put("straggler_chance", jitter.stragglers());
    object.put("straggler_factor", jitter.slowness());
    object.put("seed", jitter.seed());
    object.put("runs", runs.seconds().length);
    object.put("median_s", runs.median());
    object.put("p95_s", runs.quantile(0.95));
    object.put("mean_s", runs.mean());
    object.put("least_s", runs.seconds()[0]);
    object.put("most_s", runs.quantile(1));
    return object;
  }

  /** One sentence for people, with times as {@code wording} writes them. */
  public String words(DoubleFunction<String> wording) {
    return "with jitter: median %s, 95 %% within %s, %d runs from seed %d"
        .formatted(
            wording.apply(runs.median()),
            wording.apply(runs.quantile(0.95)),
            runs.seconds().length,
            jitter.seed());
  }
}
