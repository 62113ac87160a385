package dev.pipewright.predict.transformer.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.InputShape.Words;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.predict.transformer.StageSplit;
import dev.pipewright.predict.transformer.TrainingLayout;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

  /** A Llama 3.1 405B of few features, on 128 devices. */
  private static SearchSpace layers126() {
    LayerShape layer =
        LayerShape.of(GroupedQuery.plain(8, 8, 16), new Dense(512, true, false), NormShape.RMS);
    TransformerShape shape =
        new TransformerShape(
            128,
            Words.of(1000, 128, new Positions.Rotary()),
            Optional.empty(),
            new StackShape(StackShape.repeated(layer, 126), true, Optional.of(NormShape.RMS)),
            List.of(new HeadPart.Scores(false, false)),
            Optional.empty(),
            128);
    SearchSpace any = new RandomSpaces(1).space(new RandomSpaces(1).constants());
    return new SearchSpace(
        shape,
        any.machine(),
        any.framework(),
        any.precision(),
        true,
        0,
        OptionalInt.empty(),
        128,
        64,
        SearchValues.all(shape, 128, 64, true));
  }

  /** Megatron-Bridge trains 126 layers as eight chunks on each of eight ranks. */
  @Test
  void pipelinesNeedNotDivideTheLayers() {
    SearchSpace space = layers126();
    assertEquals(List.of(1, 2, 4, 8, 16, 32, 64), space.values().pipeline());
    assertEquals(
        List.of(1, 2, 4, 8),
        space.values().interleave().stream().filter(v -> space.dividesLayers(8, v)).toList());
    StageSplit split = space.split(8, 8).orElseThrow();
    assertEquals(
        "2 ".repeat(62) + "1 1",
        split.chunks().stream()
            .map(chunk -> String.valueOf(chunk.layers()))
            .collect(Collectors.joining(" ")));
    assertEquals(1, split.chunks().getFirst().embeddings());
    assertEquals(1, split.chunks().getLast().heads());
    assertEquals(Optional.empty(), space.split(2, 9)); // divides
    assertEquals(Optional.empty(), space.split(8, 3)); // 16 layers of a rank in three chunks
  }

  @Test
  void chunksAndRanksLackAtMostOneLayer() {
    for (int layers = 1; layers <= 130; layers++) {
      for (int ranks = 1; ranks <= layers; ranks++) {
        assertTrue(SearchValues.dividesLayers(layers, ranks, 1));
        for (int chunks = 1; chunks <= layers / ranks; chunks++) {
          String which = layers + " layers, " + ranks + " ranks, " + chunks + " chunks";
          boolean divides = SearchValues.dividesLayers(layers, ranks, chunks);
          assertTrue(divides || layers % (ranks * chunks) > 0, which);
          if (divides) {
            lacksAtMostOne(StageSplit.even(ranks, chunks, layers, 0, false, false), which);
          }
        }
        assertFalse(SearchValues.dividesLayers(layers, ranks, layers / ranks + 1));
      }
    }
  }

  private static void lacksAtMostOne(StageSplit split, String which) {
    int[] held = new int[split.ranks()];
    for (int i = 0; i < split.chunks().size(); i++) {
      held[split.rank(i)] += split.chunks().get(i).layers();
    }
    IntSummaryStatistics ranks = IntStream.of(held).summaryStatistics();
    int fullest = split.chunks().getFirst().layers();
    long fuller = split.chunks().stream().filter(chunk -> chunk.layers() == fullest).count();
    assertTrue(split.chunks().getLast().layers() >= Math.max(1, fullest - 1), which);
    assertTrue(ranks.getMax() - ranks.getMin() <= 1, which);
    assertTrue(split.chunks().size() - fuller < split.ranks(), which);
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
