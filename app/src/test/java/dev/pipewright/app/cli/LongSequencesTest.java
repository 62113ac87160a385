package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/**
 * Plans of long sequences. The first problem's best pipeline does not fit under 1F1B, but in a V;
 * another one does fit under 1F1B and takes 364 s. Of the second one's, context-parallel ranks of
 * several devices take 44 s, and replicas that recompute everything less. The third one has fewer
 * sequences than replicas.
 */
class LongSequencesTest {
  @ParameterizedTest
  @CsvSource({"h100:8x8, 64, 340, 1", "h100:16x8, 16, 41, 1", "h100:16x8, 8, 23, 8"})
  void layoutsThatAnExpertWouldTryAreFound(String cluster, int batch, double seconds, int context) {
    JsonNode plan =
        Cli.run(
                "plan",
                "llama3-70b",
                "--cluster=" + cluster,
                "--global-batch=" + batch,
                "--sequence=131072",
                "--json")
            .json();
    double found = plan.at("/objective/value").asDouble();
    assertTrue(found < seconds, "step: " + found);
    String parallelism = plan.at("/plan/stages/0/parallelism").asString();
    assertTrue(parallelism.equals(context == 1 ? "sequence:8" : "sequence:8x8"), parallelism);
  }
}
