package dev.pipewright.predict.transformer.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.predict.transformer.TrainingLayout;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Which layouts are valid: those that runs accept, each once. */
class SearchSpaceTest {
  /** Values of which many do not go together. */
  private static final SearchValues ANY =
      new SearchValues(
          List.of(1, 2, 3, 4),
          List.of(1, 2),
          List.of(1, 2, 3, 4),
          List.of(1, 2, 3),
          List.of(1, 2, 4, 5, 6, 8, 16),
          List.of(1, 2, 3),
          List.of(1, 2, 3),
          List.of(true, false),
          SearchValues.USUAL_RECOMPUTATION.subList(0, 1),
          List.of(1, 3),
          List.of(false, true),
          List.of(0, 2, 5));

  private static SearchSpace with(SearchSpace space, SearchValues values) {
    return new SearchSpace(
        space.shape(),
        space.machine(),
        space.framework(),
        space.precision(),
        space.fusedAttention(),
        space.offloadedOptimizer(),
        space.gradientBytes(),
        space.devices(),
        space.globalBatch(),
        values);
  }

  private static Set<Long> searched(SearchSpace space, CalibratedConstants constants) {
    Set<Long> numbers = new TreeSet<>();
    for (SearchMesh mesh : SearchTables.of(space, constants)) {
      for (int choice = 0; choice < mesh.choices(); choice++) {
        for (int size = 0; size < mesh.sizes(); size++) {
          for (int zero = 0; zero < mesh.zeros(); zero++) {
            for (int offload = 0; offload < mesh.offloads(); offload++) {
              long number = mesh.number(choice, size);
              number += (long) zero * space.values().offload().size() + offload;
              assertTrue(numbers.add(number), "twice: " + number);
            }
          }
        }
      }
    }
    return numbers;
  }

  private static boolean accepted(SearchSpace space, long number) {
    try {
      SearchedLayout layout = space.layout(number);
      return space.choices(layout).run().layout().devices() == space.devices();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Whether another number stands for the same run, or the space says that it has it not. */
  private static boolean leftOut(SearchSpace space, long number) {
    SearchedLayout searched = space.layout(number);
    TrainingLayout layout = searched.layout();
    long sequences = number / space.numbersOfMicroBatch();
    sequences /= (long) space.values().microBatch().size() * space.values().recompute().size();
    boolean secondSequence = sequences % space.values().sequenceParallel().size() > 0;
    return (layout.pipeline() == 1 && layout.interleave() > 1)
        || (layout.tensor() == 1 && secondSequence)
        || (layout.pipeline() == 1 && layout.reshard())
        || searched.offloadedLayers() * layout.pipeline() > space.shape().layers();
  }

  @RepeatedTest(60)
  void layoutsAreSearchedWhereRunsAcceptThem(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    SearchSpace space = with(random.space(constants), ANY);
    long last = space.number(4, 0, 0, 0, 0);
    Set<Long> expected = new TreeSet<>();
    for (long number = 0; number < last; number++) {
      if (accepted(space, number) && !leftOut(space, number)) {
        expected.add(number);
      }
    }
    assertEquals(expected, searched(space, constants));
  }

  @RepeatedTest(20)
  void theUsualValuesAreThoseOfValidLayouts(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    SearchSpace space = random.space(constants);
    for (long number : searched(space, constants)) {
      assertTrue(accepted(space, number), () -> space.layout(number).toString());
    }
  }

  private static SearchValues values(List<Integer> tensor, List<RecomputePolicy> recompute) {
    return new SearchValues(
        tensor,
        List.of(1),
        List.of(1),
        List.of(1),
        List.of(1),
        List.of(1),
        List.of(1),
        List.of(true),
        recompute,
        List.of(0),
        List.of(false),
        List.of(0));
  }

  @Test
  void valuesRiseAndStandOnce() {
    List<RecomputePolicy> usual = SearchValues.USUAL_RECOMPUTATION;
    assertEquals(List.of(1, 2, 8), values(List.of(8, 1, 2), usual).tensor());
    Exception twice =
        assertThrows(IllegalArgumentException.class, () -> values(List.of(2, 1, 2), usual));
    assertEquals("tensor has a value twice: [1, 2, 2]; give each once", twice.getMessage());
    Exception none = assertThrows(IllegalArgumentException.class, () -> values(List.of(), usual));
    assertEquals("tensor has no values to search; give at least one", none.getMessage());
    Exception some =
        assertThrows(
            IllegalArgumentException.class,
            () -> values(List.of(1), List.of(new RecomputePolicy.Full(2, false))));
    assertEquals(
        "recompute: full recomputation of some layers is not searched; give that of all layers",
        some.getMessage());
  }
}
