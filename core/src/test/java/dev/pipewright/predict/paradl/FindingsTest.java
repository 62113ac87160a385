package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Each bottleneck is named from its threshold on, and not below. */
class FindingsTest {
  private static final double CAPACITY = 1000;
  private static final MemoryUse LITTLE = new MemoryUse(1, 1, 1, 1, 1);
  private static final Layout DATA = Layout.of(Strategy.DATA, 8, 1);

  private static Estimate estimate(Phases phases, MemoryUse memory) {
    return new Estimate(phases, memory, 1, 0, 1, () -> 0);
  }

  private static List<Finding> findings(Layout layout, Estimate estimate, ScalingLimit... limits) {
    Predicted predicted =
        new Predicted(
            layout,
            64,
            OptionalLong.of(1000),
            estimate.phases(),
            estimate.memory(),
            CAPACITY,
            List.of(limits),
            List.of(),
            Optional.empty());
    return Findings.of(predicted, estimate);
  }

  private static Set<Bottleneck> names(Layout layout, Estimate estimate, ScalingLimit... limits) {
    Set<Bottleneck> names = EnumSet.noneOf(Bottleneck.class);
    findings(layout, estimate, limits).forEach(finding -> names.add(finding.bottleneck()));
    return names;
  }

  /** An iteration of one second of which a phase takes so much. */
  private static Phases with(Phase phase, double seconds) {
    Phase rest = phase == Phase.FORWARD_BACKWARD ? Phase.POINT_TO_POINT : Phase.FORWARD_BACKWARD;
    return Phases.none().with(phase, seconds).with(rest, 1 - seconds);
  }

  @Test
  void nothingIsNamedWhereNothingIsNotable() {
    assertEquals(Set.of(), names(DATA, estimate(with(Phase.HALO, 0.01), LITTLE)));
  }

  @ParameterizedTest
  @CsvSource({
    "GRADIENT_EXCHANGE, GRADIENT_EXCHANGE",
    "LAYER_ALL_GATHER, LAYER_WISE_COMMUNICATION",
    "LAYER_ALL_REDUCE, LAYER_WISE_COMMUNICATION",
    "HALO, POINT_TO_POINT",
    "POINT_TO_POINT, POINT_TO_POINT",
    "WEIGHT_UPDATE, WEIGHT_UPDATE",
    "WAITING, WORKLOAD_BALANCE"
  })
  void aPhaseIsABottleneckFromATenthOfTheIterationOn(Phase phase, Bottleneck bottleneck) {
    assertEquals(Set.of(), names(DATA, estimate(with(phase, 0.0999), LITTLE)));
    List<Finding> found = findings(DATA, estimate(with(phase, 0.1001), LITTLE));
    assertEquals(1, found.size(), found.toString());
    assertEquals(bottleneck, found.get(0).bottleneck());
    assertEquals(0.1001, found.get(0).number(), 1e-12);
    assertTrue(found.get(0).sentence().contains("10 % of the iteration"), found.toString());
  }

  @Test
  void gathersAndReductionsOfALayerCountTogether() {
    Phases both =
        Phases.none()
            .with(Phase.LAYER_ALL_GATHER, 0.06)
            .with(Phase.LAYER_ALL_REDUCE, 0.06)
            .with(Phase.FORWARD_BACKWARD, 0.88);
    assertEquals(Set.of(Bottleneck.LAYER_WISE_COMMUNICATION), names(DATA, estimate(both, LITTLE)));
  }

  @Test
  void memoryStallsFromNineTenthsOn() {
    Layout serial = Layout.of(Strategy.SERIAL, 1, 1);
    Phases phases = with(Phase.HALO, 0);
    assertEquals(Set.of(), names(serial, estimate(phases, LITTLE.times(179.9))));
    assertEquals(
        Set.of(Bottleneck.MEMORY_STALLING), names(serial, estimate(phases, LITTLE.times(180.1))));
    Finding beyond = findings(serial, estimate(phases, LITTLE.times(240))).get(0);
    assertEquals("memory: 120 % of the device's memory would be needed", beyond.sentence());
    assertEquals(1.2, beyond.number(), 1e-12);
  }

  /** A smaller batch would not help where micro-batches are as large. */
  @Test
  void memoryOfSeveralMicroBatchesIsSavedBySmallerOnes() {
    MemoryUse full = new MemoryUse(1, 1, 1, 950, 0);
    Layout layout = Layout.pipeline(Strategy.PIPELINE, 1, 1, 8);
    Phases phases = with(Phase.HALO, 0);
    StagePlan stage = new StagePlan(0, 0, List.of(0), Recompute.NONE, 1);
    PipelinePlan plan = new PipelinePlan(PipelinePolicy.A, 8, 1, 1, false, List.of(stage));
    Estimate several = new Estimate(phases, full, 1, 0, 1, Optional.of(plan), () -> 0);
    assertTrue(findings(layout, several).get(0).help().startsWith("smaller micro-batches"));
    assertTrue(findings(layout, estimate(phases, full)).get(0).help().startsWith("fewer samples"));
  }

  /** Weights 30, gradients 30, state 60, activations 90 of 1,000 bytes: what others have too. */
  @ParameterizedTest
  @CsvSource({
    "SERIAL, 1, 1, 0",
    "DATA, 8, 1, 0.12",
    "ZERO1, 8, 1, 0.06",
    "ZERO2, 8, 1, 0.03",
    "ZERO3, 8, 1, 0",
    "FILTER, 1, 8, 0.09",
    "CHANNEL, 1, 8, 0.09",
    "DATA_FILTER, 2, 4, 0.21",
    "SPATIAL, 1, 8, 0.12",
    "DATA_SPATIAL, 2, 4, 0.12"
  })
  void copiesOfWhatOthersHoldAreRedundantFromATenthOn(
      Strategy strategy, int groups, int parts, double copies) {
    Layout layout = Layout.of(strategy, groups, parts);
    MemoryUse use = new MemoryUse(30, 30, 60, 90, 0);
    for (double scale : new double[] {1, 1.2, 2, 3.5}) {
      boolean named =
          names(layout, estimate(with(Phase.HALO, 0), use.times(scale)))
              .contains(Bottleneck.MEMORY_REDUNDANCY);
      assertEquals(copies * scale >= 0.1, named, strategy + " × " + scale);
    }
  }

  @Test
  void collectivesThatShareAPortAreCongestion() {
    Phases phases = with(Phase.GRADIENT_EXCHANGE, 0.4);
    Estimate alone = new Estimate(phases, LITTLE, 1, 0, 1, () -> 0.4);
    assertEquals(Set.of(Bottleneck.GRADIENT_EXCHANGE), names(DATA, alone));
    Estimate shared = new Estimate(phases, LITTLE, 2, 0, 1, () -> 0.4);
    Finding congestion = findings(DATA, shared).get(1);
    assertEquals(Bottleneck.CONGESTION, congestion.bottleneck());
    assertEquals(0.2, congestion.number(), 1e-12);
    assertEquals("2.0 collectives of the job share a port", congestion.sentence());
    Estimate brief = new Estimate(with(Phase.GRADIENT_EXCHANGE, 0.09), LITTLE, 2, 0, 1, () -> 0.09);
    assertEquals(Set.of(), names(DATA, brief), "0.045 of the iteration");
  }

  @Test
  void anotherAlgorithmIsNamedWhereItIsATenthCheaper() {
    Phases phases = with(Phase.GRADIENT_EXCHANGE, 0.4);
    Estimate cheaper = new Estimate(phases, LITTLE, 1, 0, 1, () -> 0.3);
    String help = findings(DATA, cheaper).get(0).help();
    assertEquals(
        "another algorithm (--all-reduce cheapest) sums in 300 ms instead of 400 ms", help);
    Estimate equal = new Estimate(phases, LITTLE, 1, 0, 1, () -> 0.37);
    assertTrue(findings(DATA, equal).get(0).help().startsWith("more samples per device"));
  }

  @Test
  void unevenStagesAndRepeatedArithmeticAreNamed() {
    Phases phases = with(Phase.HALO, 0);
    assertEquals(Set.of(), names(DATA, new Estimate(phases, LITTLE, 1, 0.0999, 1.0999, () -> 0)));
    assertEquals(
        Set.of(Bottleneck.WORKLOAD_BALANCE),
        names(DATA, new Estimate(phases, LITTLE, 1, 0, 1.1001, () -> 0)));
    assertEquals(
        Set.of(Bottleneck.COMPUTE_REDUNDANCY),
        names(DATA, new Estimate(phases, LITTLE, 1, 0.1001, 1, () -> 0)));
  }

  @Test
  void aLimitIsNamedFromMoreThanHalfOfItOn() {
    Estimate estimate = estimate(with(Phase.HALO, 0), LITTLE);
    assertEquals(Set.of(), names(DATA, estimate, new ScalingLimit("scaling", 16, "so it is")));
    List<Finding> found = findings(DATA, estimate, new ScalingLimit("scaling", 15, "so it is"));
    assertEquals(List.of("ends at 15 devices: so it is"), List.of(found.get(0).sentence()));
    Layout serial = Layout.of(Strategy.SERIAL, 1, 1);
    assertEquals(Set.of(), names(serial, estimate, new ScalingLimit("scaling", 1, "so it is")));
  }

  @ParameterizedTest
  @EnumSource
  void theGravestComesFirst(Strategy strategy) {
    Phases phases = Phases.none();
    double seconds = 0;
    for (Phase phase : Phase.values()) {
      phases = phases.with(phase, ++seconds);
    }
    Layout layout = Layout.of(strategy, strategy.replicates() ? 4 : 1, 4);
    MemoryUse full = LITTLE.times(230);
    Estimate estimate = new Estimate(phases, full, 3, 20, 1.5, () -> 1);
    List<Finding> found = findings(layout, estimate, new ScalingLimit("scaling", 16, "so it is"));
    assertTrue(found.size() >= 7, found.toString());
    assertEquals(
        found.stream().sorted(Comparator.comparingDouble(Finding::number).reversed()).toList(),
        found);
    for (Finding finding : found) {
      assertTrue(finding.number() >= 0 && !finding.help().isBlank(), finding.toString());
    }
  }
}
