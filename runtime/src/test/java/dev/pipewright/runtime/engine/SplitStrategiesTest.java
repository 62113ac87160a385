package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.parallel.Reduction;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.runtime.engine.Training.Result;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.zoo.Models;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Workers that compute layers together, with replicas and in pipelines, train as one worker does
 * alone: to 1e-5 of each layer's parameters, or ten times what a change in the last bits of their
 * samples makes where networks with batch normalisation make more of rounding.
 */
class SplitStrategiesTest {
  private static final int BATCH = 7;
  private static final String CONVOLUTIONS = "cnn-64-128-256:size=12,classes=4";
  private static final String RESIDUAL = "resnet-18:size=32,classes=4";
  private static final String GPT = "gpt:layers=2,hidden=16,heads=4,sequence=8,vocabulary=32";

  private static final String WORDS =
      "gpt-untied:layers=2,hidden=32,heads=4,sequence=8,vocabulary=31";

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  private static Training training(LayerGraph graph) {
    return Training.synthetic(graph, UpdateRule.usual(Optimizer.MOMENTUM), BATCH, 20_000);
  }

  /** Stages of equally many positions, split one like the other. */
  private static List<StageLayers> cut(LayerGraph graph, List<Parallelism> splits) {
    List<StageLayers> cut = NetworksTest.cut(graph, splits.size());
    for (int stage = 0; stage < cut.size(); stage++) {
      cut.set(stage, cut.get(stage).with(splits.get(stage)));
    }
    return cut;
  }

  private static LayerGraph graph(String name) {
    return Models.find(name).orElseThrow().graph();
  }

  /**
   * Trains both ways.
   *
   * @param replicas of each rank
   */
  private static void same(
      String name, Schedule schedule, List<Parallelism> splits, List<Integer> replicas, int steps) {
    LayerGraph graph = graph(name);
    int depth = schedule.placement().depth();
    List<Integer> workers =
        IntStream.range(0, schedule.ranks())
            .map(rank -> replicas.get(rank) * splits.get(rank % depth).parts())
            .boxed()
            .toList();
    same(graph, new Assignment(schedule, cut(graph, splits), workers, BATCH, true), steps);
  }

  private static void same(LayerGraph graph, Assignment assignment, int steps) {
    Schedule schedule = assignment.schedule();
    int all = schedule.microBatches() * schedule.placement().chains();
    Alone alone =
        ALONE.computeIfAbsent(List.of(graph, all, steps), key -> alone(graph, all, steps));
    Result serial = alone.result();
    Result together = training(graph).run(assignment, steps);
    String what = graph.name() + " " + assignment.stages() + " on " + assignment.workers();
    assertTrue(serial.losses()[0] > 0.1, what);
    for (int step = 0; step < steps; step++) {
      assertEquals(serial.losses()[step], together.losses()[step], 1e-4, what);
    }
    assertEquals(serial.losses()[0], together.losses()[0], 1e-5, what);
    assertEquals(0, Training.difference(serial, together), alone.rounding(), what);
  }

  /**
   * One worker's training, which several strategies are compared with.
   *
   * @param rounding of each layer's parameters that others are allowed
   */
  private record Alone(Result result, double rounding) {}

  /** By network, micro-batches and steps. */
  private static final Map<List<Object>, Alone> ALONE = new HashMap<>();

  private static Alone alone(LayerGraph graph, int microBatches, int steps) {
    Training training = training(graph);
    Assignment one = Assignment.serial(Chain.of(graph).size(), microBatches, BATCH);
    Result serial = training.run(one, steps);
    Result moved = training.with(NetworksTest.lastBits(training.feed())).run(one, steps);
    return new Alone(serial, Math.max(1e-5, 10 * Training.difference(serial, moved)));
  }

  private static final Schedule ONE = OneForwardOneBackward.of(1, 1);
  private static final Schedule TWO = OneForwardOneBackward.of(2, 3);

  private static Parallelism split(Kind kind, int parts) {
    return Parallelism.of(kind, parts);
  }

  private static Parallelism places(int... grid) {
    return new Parallelism(Kind.SPATIAL, IntStream.of(grid).boxed().toList());
  }

  @Test
  void filtersAndChannelsAlone() {
    for (Kind kind : List.of(Kind.FILTER, Kind.CHANNEL)) {
      same(CONVOLUTIONS, ONE, List.of(split(kind, 3)), List.of(1), 2);
      same(RESIDUAL, ONE, List.of(split(kind, 2)), List.of(1), 1);
      same("mlp:layers=3,hidden=17,in=13,classes=4", ONE, List.of(split(kind, 3)), List.of(1), 3);
    }
  }

  @Test
  void placesAlone() {
    same(CONVOLUTIONS, ONE, List.of(places(2, 2)), List.of(1), 2);
    same(CONVOLUTIONS, ONE, List.of(places(1, 3)), List.of(1), 2);
    same(RESIDUAL, ONE, List.of(places(2, 1)), List.of(1), 1);
  }

  @Test
  void withReplicas() {
    for (Parallelism split : List.of(split(Kind.FILTER, 2), split(Kind.CHANNEL, 2), places(2, 1))) {
      same(CONVOLUTIONS, ONE, List.of(split), List.of(2), 2);
      same(RESIDUAL, ONE, List.of(split), List.of(2), 1);
    }
    same(GPT, ONE, List.of(split(Kind.SEQUENCE, 2)), List.of(3), 2);
  }

  /** Every way hands the sums on to all: workers that disagree are an error. */
  @Test
  void withEveryWayToSumGradientsOfPlaces() {
    for (Reduction reduction : Reduction.values()) {
      Parallelism three = places(3, 1).with(reduction);
      same(CONVOLUTIONS, ONE, List.of(three), List.of(2), 2);
    }
  }

  @Test
  void inPipelinesWhoseStagesAreSplitDifferently() {
    for (List<Parallelism> splits :
        List.of(
            List.of(places(2, 1), split(Kind.FILTER, 3)),
            List.of(split(Kind.CHANNEL, 2), Parallelism.NONE),
            List.of(Parallelism.NONE, split(Kind.FILTER, 2)),
            List.of(places(2, 2), places(1, 2)))) {
      same(CONVOLUTIONS, TWO, splits, List.of(1, 1), 1);
    }
    same(CONVOLUTIONS, TWO, List.of(places(2, 1), split(Kind.FILTER, 2)), List.of(2, 1), 1);
    same(CONVOLUTIONS, TWO, List.of(split(Kind.FILTER, 2), places(2, 1)), List.of(1, 2), 1);
  }

  @Test
  void blocksOfTransformers() {
    for (Kind kind : List.of(Kind.TENSOR, Kind.SEQUENCE)) {
      for (String name :
          List.of(
              GPT,
              "bert:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32",
              "vit:layers=2,hidden=18,heads=3,patch=8,size=16,classes=4")) {
        same(name, ONE, List.of(split(kind, 2)), List.of(1), 2);
        same(name, TWO, List.of(split(kind, 2), Parallelism.NONE), List.of(1, 2), 1);
      }
    }
  }

  private static final String LLAMA =
      "llama:layers=2,hidden=16,heads=4,kv-heads=2,ffn=20,sequence=8,vocabulary=31";
  private static final String MIXTRAL =
      "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=12,sequence=8,vocabulary=31,experts=4,chosen=2";

  @Test
  void decodersOfOtherShapes() {
    for (String name : List.of(LLAMA, MIXTRAL)) {
      same(name, OneForwardOneBackward.of(1, 1), List.of(Parallelism.NONE), List.of(3), 2);
      same(
          name,
          ZeroBubbleH1.of(2, 3),
          List.of(Parallelism.NONE, Parallelism.NONE),
          List.of(1, 1),
          2);
      for (Kind kind : List.of(Kind.TENSOR, Kind.SEQUENCE)) {
        same(name, ONE, List.of(split(kind, 2)), List.of(1), 3);
        same(name, TWO, List.of(split(kind, 2), Parallelism.NONE), List.of(1, 2), 1);
      }
    }
  }

  /** Context parallelism, in one stage and in two, with replicas and with other kinds. */
  @Test
  void tokensOfSequences() {
    for (String name :
        List.of(
            GPT,
            WORDS,
            LLAMA,
            MIXTRAL,
            "bert:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32",
            "vit:layers=2,hidden=18,heads=3,patch=8,size=16,classes=4")) {
      Parallelism two = split(Kind.CONTEXT, 2);
      same(name, ONE, List.of(two), List.of(1), 3);
      same(name, ONE, List.of(split(Kind.CONTEXT, 3)), List.of(2), 2);
      same(name, TWO, List.of(two, Parallelism.NONE), List.of(1, 2), 2);
      same(name, TWO, List.of(two, two), List.of(1, 1), 1);
      same(name, TWO, List.of(split(Kind.TENSOR, 2), two), List.of(1, 2), 1);
      same(name, ZeroBubbleH1.of(2, 3), List.of(two, two), List.of(1, 1), 1);
    }
  }

  /** Each worker's gradients are terms of the table's, however they are summed. */
  @Test
  void tokensOfSequencesWithEveryWayToSumGradients() {
    for (Reduction reduction : Reduction.values()) {
      same(GPT, ONE, List.of(split(Kind.CONTEXT, 3).with(reduction)), List.of(2), 2);
      same(LLAMA, ONE, List.of(split(Kind.CONTEXT, 2).with(reduction)), List.of(2), 2);
    }
  }

  /**
   * Context-parallel ranks that are tensor-parallel groups each, with a table of two readers, too.
   */
  @ParameterizedTest
  @ValueSource(strings = {GPT, WORDS, LLAMA, MIXTRAL})
  void tokensOfGroupsThatDivideFeatures(String name) {
    Parallelism four = Parallelism.ofCopies(2, 2);
    same(name, ONE, List.of(four), List.of(1), 3);
    same(name, ONE, List.of(four), List.of(2), 2);
    same(name, ONE, List.of(Parallelism.ofCopies(4, 2)), List.of(1), 1);
    same(name, TWO, List.of(four, four), List.of(1, 2), 2);
    same(name, ZeroBubbleH1.of(2, 3), List.of(four, four), List.of(1, 1), 1);
    for (Reduction reduction : Reduction.values()) {
      same(name, ONE, List.of(four.with(reduction)), List.of(2), 2);
    }
  }

  /** Expert parallelism, in one stage and in two, with replicas and with other kinds. */
  @Test
  void expertsOfMixtures() {
    Parallelism two = split(Kind.EXPERT, 2);
    same(MIXTRAL, ONE, List.of(two), List.of(1), 3);
    same(MIXTRAL, ONE, List.of(split(Kind.EXPERT, 3)), List.of(2), 2);
    same(MIXTRAL, ONE, List.of(split(Kind.EXPERT, 4)), List.of(1), 3);
    same(MIXTRAL, TWO, List.of(two, Parallelism.NONE), List.of(1, 2), 2);
    same(MIXTRAL, TWO, List.of(two, split(Kind.EXPERT, 4)), List.of(1, 1), 2);
    same(MIXTRAL, TWO, List.of(split(Kind.TENSOR, 2), two), List.of(1, 2), 1);
    same(MIXTRAL, TWO, List.of(split(Kind.CONTEXT, 3), two), List.of(1, 1), 1);
    same(MIXTRAL, ZeroBubbleH1.of(2, 3), List.of(two, two), List.of(1, 1), 2);
    same(MIXTRAL, Chimera.of(2, 2), List.of(two, two), List.of(1, 1), 1);
  }

  /** The same with whole sequences for each worker, also where they do not divide evenly. */
  @Test
  void expertsOfWholeSequences() {
    Parallelism two = Parallelism.ofWholeSequences(2);
    Parallelism three = Parallelism.ofWholeSequences(3);
    same(MIXTRAL, ONE, List.of(two), List.of(1), 3);
    same(MIXTRAL, ONE, List.of(two), List.of(2), 2);
    same(MIXTRAL, ONE, List.of(three), List.of(1), 2);
    same(MIXTRAL, TWO, List.of(two, Parallelism.NONE), List.of(1, 2), 2);
    same(MIXTRAL, TWO, List.of(two, split(Kind.EXPERT, 4)), List.of(1, 1), 2);
    same(MIXTRAL, TWO, List.of(split(Kind.TENSOR, 2), two), List.of(1, 2), 1);
    same(MIXTRAL, ZeroBubbleH1.of(2, 3), List.of(two, two), List.of(1, 1), 2);
    same(MIXTRAL, Chimera.of(2, 2), List.of(two, two), List.of(1, 1), 1);
  }

  /** Tensor-parallel groups with samples of their own, all of whose workers have some experts. */
  @Test
  void expertsOfGroupsThatDivideFeatures() {
    Parallelism one = Parallelism.ofExpertCopies(1, 2);
    Parallelism two = Parallelism.ofExpertCopies(2, 2);
    same(MIXTRAL, ONE, List.of(one), List.of(1), 3);
    same(MIXTRAL, ONE, List.of(one), List.of(2), 2);
    same(MIXTRAL, ONE, List.of(two), List.of(1), 3);
    same(MIXTRAL, ONE, List.of(two), List.of(2), 2);
    same(MIXTRAL, TWO, List.of(one, one), List.of(1, 1), 2);
    same(MIXTRAL, TWO, List.of(two, two), List.of(1, 1), 2);
    same(MIXTRAL, ZeroBubbleH1.of(2, 3), List.of(two, two), List.of(1, 1), 2);
    same(MIXTRAL, Chimera.of(2, 2), List.of(two, two), List.of(1, 1), 1);
    for (Reduction reduction : Reduction.values()) {
      same(MIXTRAL, ONE, List.of(two.with(reduction)), List.of(2), 2);
    }
  }

  @Test
  void tokensAndExpertsWithRecomputation() {
    LayerGraph graph = graph(MIXTRAL);
    int last = Chain.of(graph).size() - 1;
    List<LayerRange> again = List.of(new LayerRange(0, 1), new LayerRange(2, last));
    for (Parallelism split :
        List.of(
            split(Kind.CONTEXT, 2),
            split(Kind.EXPERT, 2),
            Parallelism.ofWholeSequences(2),
            Parallelism.ofExpertCopies(2, 2),
            Parallelism.ofCopies(2, 2))) {
      for (StageLayers layers :
          List.of(
              new StageLayers(new LayerRange(0, last), Recompute.STAGE_INPUT, List.of(), split),
              new StageLayers(new LayerRange(0, last), Recompute.SELECTIVE, again, split))) {
        Schedule schedule = OneForwardOneBackward.of(1, 2);
        same(graph, new Assignment(schedule, List.of(layers), List.of(4), BATCH, true), 2);
      }
    }
  }

  /** Of 31 words two members have 15 and 16, three 10, 10 and 11. */
  @Test
  void wordsOfEmbeddingsAndHeads() {
    for (int parts : new int[] {2, 3, 4}) {
      same(WORDS, ONE, List.of(split(Kind.TENSOR, parts)), List.of(1), 3);
    }
    same(WORDS, ONE, List.of(split(Kind.TENSOR, 2)), List.of(2), 2);
    same(WORDS, TWO, List.of(split(Kind.TENSOR, 3), split(Kind.TENSOR, 2)), List.of(1, 1), 2);
    same(WORDS, TWO, List.of(split(Kind.TENSOR, 2), Parallelism.NONE), List.of(1, 2), 1);
    same(WORDS, TWO, List.of(Parallelism.NONE, split(Kind.TENSOR, 2)), List.of(1, 2), 1);
    same(WORDS, TWO, List.of(split(Kind.SEQUENCE, 2), split(Kind.TENSOR, 3)), List.of(1, 1), 1);
    Parallelism two = split(Kind.TENSOR, 2);
    same(WORDS, ZeroBubbleH1.of(2, 3), List.of(two, two), List.of(1, 1), 2);
    same(WORDS, Chimera.of(2, 2), List.of(two, two), List.of(1, 1), 1);
  }

  /** Fewer words than members: the table stays whole. */
  @Test
  void fewWordsStayWhole() {
    String few = "gpt-untied:layers=1,hidden=16,heads=4,sequence=8,vocabulary=3";
    same(few, ONE, List.of(split(Kind.TENSOR, 4)), List.of(1), 2);
  }

  @Test
  void wordsWithRecomputation() {
    LayerGraph graph = graph(WORDS);
    int last = Chain.of(graph).size() - 1;
    List<LayerRange> again = List.of(new LayerRange(0, 1), new LayerRange(3, last));
    Parallelism split = split(Kind.TENSOR, 2);
    for (StageLayers layers :
        List.of(
            new StageLayers(new LayerRange(0, last), Recompute.STAGE_INPUT, List.of(), split),
            new StageLayers(new LayerRange(0, last), Recompute.SELECTIVE, again, split))) {
      Schedule schedule = OneForwardOneBackward.of(1, 2);
      same(graph, new Assignment(schedule, List.of(layers), List.of(4), BATCH, true), 1);
    }
  }

  @Test
  void inSchedulesThatSplitBackwardPassesOrRunBothWays() {
    same(
        GPT,
        ZeroBubbleH1.of(2, 3),
        List.of(split(Kind.SEQUENCE, 2), split(Kind.TENSOR, 4)),
        List.of(1, 1),
        1);
    Parallelism two = places(2, 1);
    same(CONVOLUTIONS, ZeroBubbleH1.of(2, 3), List.of(two, two), List.of(1, 1), 1);
    same(CONVOLUTIONS, Chimera.of(2, 2), List.of(two, two), List.of(1, 1), 1);
  }

  @Test
  void withRecomputation() {
    LayerGraph graph = graph(CONVOLUTIONS);
    int last = Chain.of(graph).size() - 1;
    List<LayerRange> again = List.of(new LayerRange(1, 3), new LayerRange(5, 6));
    for (Parallelism split : List.of(places(2, 1), split(Kind.FILTER, 2))) {
      for (StageLayers layers :
          List.of(
              new StageLayers(new LayerRange(0, last), Recompute.STAGE_INPUT, List.of(), split),
              new StageLayers(new LayerRange(0, last), Recompute.SELECTIVE, again, split))) {
        Schedule schedule = OneForwardOneBackward.of(1, 2);
        same(graph, new Assignment(schedule, List.of(layers), List.of(4), BATCH, true), 1);
      }
    }
  }
}
