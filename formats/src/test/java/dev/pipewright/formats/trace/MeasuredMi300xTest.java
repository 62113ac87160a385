package dev.pipewright.formats.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.StaticSimulator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Eight MI300X under 1F1B, as Primus dumped them: its example dump's medians, which {@code
 * reference/measured/pipeline-mi300x.json} states, simulated.
 */
class MeasuredMi300xTest {
  private static double[] of(JsonNode ranks, String key) {
    return StreamSupport.stream(ranks.spliterator(), false)
        .mapToDouble(rank -> rank.path("chunks").get(0).path(key).asDouble())
        .toArray();
  }

  @Test
  void theMediansOfPassesGiveTheMeasuredIterations() {
    String reference = System.getProperty("reference.dir", "");
    Path file = Path.of(reference, "measured", "pipeline-mi300x.json");
    Assumptions.assumeTrue(!reference.isEmpty() && Files.exists(file), "no reference data");
    JsonNode measured = JsonMapper.shared().readTree(file.toFile());
    int stages = measured.path("stages").asInt();
    double[] forward = of(measured.path("ranks"), "forward_s");
    double[] backward = of(measured.path("ranks"), "backward_s");
    double[] hops = new double[stages];
    Arrays.fill(hops, measured.path("hop_s").asDouble());
    OpTimes times =
        new OpTimes(
            forward,
            backward,
            new double[stages],
            forward,
            hops,
            hops,
            OncePerStepTimes.none(stages),
            false);
    var schedule = OneForwardOneBackward.of(stages, measured.path("micro_batches").asInt());
    double simulated = StaticSimulator.run(schedule, times).makespan();
    double median = measured.path("makespan_median_s").asDouble();
    assertEquals(median, simulated, 0.03 * median, "median");
    int iterations = 0;
    for (JsonNode iteration : measured.path("iterations")) {
      double seconds = iteration.path("makespan_s").asDouble();
      assertEquals(seconds, simulated, 0.03 * seconds, iteration.toString());
      iterations++;
    }
    assertTrue(iterations > 10, "iterations: " + iterations);
  }
}
