package dev.pipewright.bench.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.formats.oracle.CalibratedConstantsJson;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerRun;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A search finds no layout that is slower than a published one that fits, all by prediction. */
class HandMadeLayoutsTest {
  private static final Set<String> UNEVEN = Set.of("bridge-10", "bridge-11", "bridge-15");
  private static final CalibratedConstants CONSTANTS = CalibratedConstantsJson.read();

  private static void isAsFastAsByHand(MeasuredStep step) {
    if (TransformerOracle.predict(step.run(), CONSTANTS).fits()) {
      TransformerRun found = HandMadeLayouts.found(step, CONSTANTS).orElseThrow();
      double seconds = TransformerOracle.seconds(found, CONSTANTS);
      double byHand = TransformerOracle.seconds(step.run(), CONSTANTS);
      assertTrue(
          seconds <= byHand * (1 + 1e-9),
          () -> step.id() + ": " + seconds + " > " + byHand + ", " + found.layout());
      assertTrue(TransformerOracle.predict(found, CONSTANTS).fits(), step.id());
    }
  }

  /** Llama 3.1 405B has 126 layers, which its recipes spread over eight ranks. */
  @Test
  void recipesWhosePipelinesDoNotDivideTheLayers() {
    List<MeasuredStep> uneven =
        UnseenSteps.read().stream().filter(step -> UNEVEN.contains(step.id())).toList();
    assertEquals(3, uneven.size());
    for (MeasuredStep step : uneven) {
      assertEquals(64, step.run().split().chunks().size(), step.id());
      assertTrue(TransformerOracle.predict(step.run(), CONSTANTS).fits(), step.id());
      isAsFastAsByHand(step);
    }
  }

  @Test
  void recipesForOtherNetworks() {
    UnseenSteps.read().stream()
        .filter(step -> !UNEVEN.contains(step.id()))
        .forEach(HandMadeLayoutsTest::isAsFastAsByHand);
  }

  /** The published run sends tokens to experts while it computes, so the search does, too. */
  @Test
  void mixturesOfExpertsOnTheSoftwareOfThePublishedRun() {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Reference reference = new Reference(Path.of(String.valueOf(folder)));
    assumeTrue(reference.present(), "no reference files in " + reference.folder());
    List<MeasuredStep> overlapped =
        new PublishedSteps(reference)
            .steps().stream()
                .filter(step -> Set.of("ms-054", "ms-070").contains(step.id()))
                .toList();
    assertEquals(2, overlapped.size());
    overlapped.forEach(HandMadeLayoutsTest::isAsFastAsByHand);
  }
}
