package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Names, batches and layouts as the command line and JSON show them. */
class StrategyTest {
  @ParameterizedTest
  @EnumSource
  void aLabelFindsItsStrategyAndNoOther(Strategy strategy) {
    assertEquals(Optional.of(strategy), Strategy.find(strategy.label()));
    assertEquals(strategy.name(), strategy.label().toUpperCase(Locale.ROOT).replace('+', '_'));
    assertEquals(Optional.empty(), Strategy.find(strategy.label() + "s"));
    assertEquals(strategy.label(), strategy.toString());
    assertEquals(strategy.label().startsWith("data+"), strategy.hybrid());
  }

  @Test
  void theCommandLinesNamesAreAllThere() {
    assertEquals(
        List.of(
            "serial",
            "data",
            "spatial",
            "pipeline",
            "filter",
            "channel",
            "tensor",
            "sequence",
            "context",
            "expert",
            "data+filter",
            "data+channel",
            "data+spatial",
            "data+pipeline",
            "data+tensor",
            "data+sequence",
            "data+context",
            "data+expert",
            "data+tensor+pipeline",
            "data+sequence+pipeline",
            "zero1",
            "zero2",
            "zero3"),
        Strategy.labels());
  }

  @Test
  void keysOfPhasesAndBottlenecksDiffer() {
    assertEquals(
        Phase.values().length, Arrays.stream(Phase.values()).map(Phase::key).distinct().count());
    assertEquals(
        Bottleneck.values().length,
        Arrays.stream(Bottleneck.values()).map(Bottleneck::label).distinct().count());
    assertTrue(Arrays.stream(Phase.values()).allMatch(phase -> phase.key().endsWith("_s")));
  }

  @Test
  void aBatchGrowsWithTheDevicesOrStays() {
    assertEquals(32L * 1024, BatchScaling.perDevice(32).on(1024));
    assertEquals(32, BatchScaling.global(32).on(1024));
    assertEquals(2_000_000_000_000L, BatchScaling.perDevice(2_000_000_000).on(1000));
    var none = assertThrows(IllegalArgumentException.class, () -> BatchScaling.global(0));
    assertEquals("a batch has samples: samples=0", none.getMessage());
    var many = BatchScaling.perDevice(Long.MAX_VALUE);
    assertThrows(ArithmeticException.class, () -> many.on(2));
  }

  @Test
  void layoutsAreWrittenAsPeopleWould() {
    assertEquals("16", Layout.of(Strategy.DATA, 16, 1).toString());
    assertEquals("8", Layout.of(Strategy.FILTER, 1, 8).toString());
    assertEquals("16 × 4", Layout.of(Strategy.DATA_FILTER, 16, 4).toString());
    assertEquals("2×3", Layout.spatial(Strategy.SPATIAL, 1, List.of(2, 3)).toString());
    assertEquals(
        "4 × 2×2×1", Layout.spatial(Strategy.DATA_SPATIAL, 4, List.of(2, 2, 1)).toString());
    assertEquals("4 stages, 8 segments", Layout.pipeline(Strategy.PIPELINE, 1, 4, 8).toString());
    assertEquals(
        "2 × 4 stages, 8 segments", Layout.pipeline(Strategy.DATA_PIPELINE, 2, 4, 8).toString());
    assertEquals(64, Layout.of(Strategy.DATA_FILTER, 16, 4).devices());
  }

  @Test
  void phasesAddUp() {
    Phases phases =
        Phases.none()
            .with(Phase.FORWARD_BACKWARD, 3)
            .with(Phase.HALO, 1)
            .with(Phase.HALO, 0.5)
            .with(Phase.WAITING, 2);
    assertEquals(6.5, phases.total());
    assertEquals(5, phases.compute());
    assertEquals(1.5, phases.communication());
    assertEquals(1.5, phases.seconds(Phase.HALO));
    assertEquals(0, Phases.none().total());
    assertThrows(IllegalArgumentException.class, () -> phases.with(Phase.HALO, -1));
    assertThrows(IllegalArgumentException.class, () -> phases.with(Phase.HALO, Double.NaN));
  }

  @Test
  void memoryIsTheSumOfItsUses() {
    MemoryUse use = new MemoryUse(1, 2, 4, 8, 16);
    assertEquals(31, use.total());
    assertEquals(new MemoryUse(0.5, 1, 2, 4, 8), use.times(0.5));
  }
}
