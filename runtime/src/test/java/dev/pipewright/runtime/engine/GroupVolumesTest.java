package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.TiedTable;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.runtime.net.CountingTransport;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What {@link GroupExchanges} says that the workers of a team tell each other is what they do tell
 * each other in a step, byte for byte, worker by worker: counted at the transport, for networks of
 * every kind, in one stage and in two, with parts that are not equally large. Where experts are
 * divided, all tokens go to all experts: other numbers would follow from the routers.
 */
class GroupVolumesTest {
  private static final int BYTES = 4;
  private static final int BATCH = 6;
  private static final int MICRO_BATCHES = 2;

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mlp:layers=3,hidden=17,in=13,classes=4 | FILTER | 3",
        "mlp:layers=3,hidden=17,in=13,classes=4 | CHANNEL | 2",
        "cnn-64-128-256:size=13,classes=5 | FILTER | 2",
        "cnn-64-128-256:size=13,classes=5 | CHANNEL | 3",
        "cnn-64-128-256:size=13,classes=5 | SPATIAL | 3x1",
        "cnn-64-128-256:size=13,classes=5 | SPATIAL | 2x2",
        "resnet-18:size=40,classes=4,width=8 | FILTER | 2",
        "resnet-18:size=40,classes=4,width=8 | CHANNEL | 3",
        "resnet-18:size=40,classes=4,width=8 | SPATIAL | 1x2",
        "cosmoflow:size=16,outputs=4 | SPATIAL | 2x1x2",
        "vit:layers=2,hidden=18,heads=3,patch=8,size=16,classes=4 | TENSOR | 2",
        "vit:layers=2,hidden=18,heads=3,patch=8,size=16,classes=4 | SEQUENCE | 2",
        "gpt:layers=2,hidden=16,heads=4,sequence=7,vocabulary=32 | TENSOR | 3",
        "gpt:layers=2,hidden=16,heads=4,sequence=7,vocabulary=32 | SEQUENCE | 3",
        "gpt-untied:layers=2,hidden=16,heads=4,sequence=7,vocabulary=31 | TENSOR | 2",
        "gpt-untied:layers=2,hidden=16,heads=4,sequence=7,vocabulary=31 | TENSOR | 4",
        "gpt-untied:layers=2,hidden=16,heads=4,sequence=7,vocabulary=31 | SEQUENCE | 3",
        "llama:layers=2,hidden=24,heads=6,kv-heads=3,ffn=21,sequence=7,vocabulary=31 | TENSOR | 2",
        "llama:layers=2,hidden=24,heads=6,kv-heads=3,ffn=21,sequence=7,vocabulary=31 | SEQUENCE | 3",
        "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=9,sequence=7,vocabulary=31,experts=3,chosen=2 | TENSOR | 2",
        "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=9,sequence=7,vocabulary=31,experts=3,chosen=2 | SEQUENCE | 2",
        "llama:layers=2,hidden=24,heads=6,kv-heads=3,ffn=21,sequence=7,vocabulary=31 | CONTEXT | 3",
        "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=9,sequence=7,vocabulary=31,experts=3,chosen=2 | CONTEXT | 2",
        "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=9,sequence=7,vocabulary=31,experts=3,chosen=3 | EXPERT | 2",
        "mixtral:layers=1,hidden=16,heads=4,kv-heads=2,ffn=9,sequence=7,vocabulary=31,experts=5,chosen=5 | EXPERT | 3",
        "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=9,sequence=6,vocabulary=31,experts=5,chosen=5 | EXPERT | 3x1",
        "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=9,sequence=6,vocabulary=31,experts=4,chosen=4 | EXPERT | 1x2",
        "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=9,sequence=12,vocabulary=31,experts=7,chosen=7 | EXPERT | 3x2",
        "llama:layers=2,hidden=24,heads=6,kv-heads=3,ffn=21,sequence=12,vocabulary=31 | SEQUENCE | 2x3",
        "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=9,sequence=8,vocabulary=31,experts=3,chosen=2 | SEQUENCE | 2x2",
        "gpt-untied:layers=2,hidden=16,heads=4,sequence=12,vocabulary=31 | SEQUENCE | 3x2",
        "gpt:layers=2,hidden=16,heads=4,sequence=12,vocabulary=32 | SEQUENCE | 3x2",
        "vit:layers=2,hidden=18,heads=3,patch=8,size=16,classes=4 | CONTEXT | 2",
        "gpt:layers=2,hidden=16,heads=4,sequence=7,vocabulary=32 | CONTEXT | 3",
        "gpt-untied:layers=2,hidden=16,heads=4,sequence=7,vocabulary=31 | CONTEXT | 2",
        "bert:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32 | CONTEXT | 2",
        "bert:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32 | TENSOR | 2",
        "bert:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32 | SEQUENCE | 2",
      })
  void areCountedAtTheTransport(String network, Kind kind, String grid) {
    LayerGraph graph = Models.find(network).orElseThrow().graph();
    List<Integer> parts = List.of(grid.split("x")).stream().map(Integer::valueOf).toList();
    Parallelism split = new Parallelism(kind, parts);
    List<List<Parallelism>> layouts =
        new ArrayList<>(List.of(List.of(split), List.of(split, split)));
    if (!split.nested()) { // otherwise stages are refused that divide tokens differently
      layouts.add(List.of(split, Parallelism.NONE));
      layouts.add(List.of(Parallelism.NONE, split));
    }
    for (List<Parallelism> splits : layouts) {
      int stages = splits.size();
      Schedule schedule = OneForwardOneBackward.of(stages, MICRO_BATCHES);
      List<StageLayers> whole = NetworksTest.cut(graph, stages);
      List<StageLayers> cut =
          IntStream.range(0, stages).mapToObj(i -> whole.get(i).with(splits.get(i))).toList();
      List<Integer> workers = splits.stream().map(Parallelism::parts).toList();
      Assignment assignment = new Assignment(schedule, cut, workers, BATCH, false);
      boolean alike = assignment.dividesAlike();
      assertEquals(Set.copyOf(splits).size() == 1, alike);
      Map<Integer, CountingTransport> counted = step(graph, assignment);
      long all = 0;
      for (int worker = 0; worker < assignment.size(); worker++) {
        StageLayers own = cut.get(assignment.rankOf(worker));
        int part = assignment.partOf(worker);
        CountingTransport found = Objects.requireNonNull(counted.get(worker));
        assertEquals(
            summed(graph, own, alike, part) * BYTES, found.summed().get(), "sums of " + worker);
        assertEquals(
            handed(graph, own, alike, part) * BYTES, found.handed().get(), "parts of " + worker);
        all += found.summed().get() + found.handed().get();
      }
      assertTrue(all > 0, "nobody has told anybody anything");
      if (alike) {
        long sent = counted.values().stream().mapToLong(each -> each.sent().get()).sum();
        assertEquals(crossing(graph, cut) * BYTES, sent, "messages of " + stages + " stages");
      }
    }
  }

  /**
   * Elements of messages between stages that divide alike: of what stays divided each part once.
   */
  private static long crossing(LayerGraph graph, List<StageLayers> cut) {
    Parallelism split = cut.get(0).split();
    CutRegion region = new CutRegion(graph, split.ofCopy(), true);
    boolean[] differentiable = GroupExchanges.differentiable(graph);
    long elements = 0;
    for (StageLayers stage : cut.subList(1, cut.size())) {
      for (int layer : Chain.of(graph).crossing(stage.range().first() - 1)) {
        long whole = BATCH * graph.layer(layer).outputElements();
        long all = region.staysCut(layer) ? whole : whole * split.pieces();
        elements += differentiable[layer] ? 2 * all : all;
      }
    }
    return elements;
  }

  private static Map<Integer, CountingTransport> step(LayerGraph graph, Assignment assignment) {
    Map<Integer, CountingTransport> counted = new ConcurrentHashMap<>();
    Training.synthetic(graph, UpdateRule.usual(Optimizer.SGD), BATCH, 20_000)
        .run(assignment, 1, CountingTransport.into(counted), new Training.Look() {});
    return counted;
  }

  /** Elements that all sum: within layers, and gradients that parts add up to. */
  private static long summed(LayerGraph graph, StageLayers stage, boolean alike, int part) {
    long elements = 0;
    for (GroupExchange exchange :
        GroupExchanges.of(Chain.of(graph), stage.range(), stage.split(), alike)) {
      if (exchange.kind() == GroupExchange.Kind.SUM) {
        int samples = BATCH / MICRO_BATCHES;
        elements += MICRO_BATCHES * exchange.elements(samples);
      }
    }
    ShardedParameters parameters = new ShardedParameters(graph, stage.split());
    int[] layers = Chain.of(graph).layers(stage.range().first() - 1, stage.range().last());
    for (int layer : layers) {
      var held = parameters.of(layer, part);
      long ofAll = held.summed() ? held.whole() - table(graph, layer) : 0;
      if (stage.split().copies() > 1) { // copies add up the rest, and after each copy its parts
        elements += held.numbers() - held.experts() - table(graph, layer) - ofAll;
        ofAll /= stage.split().pieces();
      }
      elements += ofAll;
    }
    return elements + tied(graph, layers);
  }

  /** Of a layer's table that is read twice, whose gradients are summed by themselves. */
  private static long table(LayerGraph graph, int layer) {
    return graph.tiedTables().stream()
        .filter(table -> table.layer() == layer)
        .mapToLong(TiedTable::numbers)
        .sum();
  }

  /** A table that is read twice: all who hold the layer of one of the two sum its gradients. */
  private static long tied(LayerGraph graph, int[] layers) {
    for (int copy = 0; copy < graph.size(); copy++) {
      for (Operator step : graph.layer(copy).steps()) {
        if (step instanceof Operator.TiedScores(String name)) {
          int reader = copy;
          int table = Objects.requireNonNull(graph.index().get(name));
          boolean holds =
              Arrays.stream(layers).anyMatch(layer -> layer == reader || layer == table);
          Operator.Embedding words = (Operator.Embedding) graph.layer(table).steps().get(0);
          return holds ? (long) words.vocabulary() * words.features() : 0;
        }
      }
    }
    return 0;
  }

  private static long handed(LayerGraph graph, StageLayers stage, boolean alike, int part) {
    return GroupExchanges.of(Chain.of(graph), stage.range(), stage.split(), alike).stream()
        .mapToLong(exchange -> {
          int times = exchange.ofEachSample() ? BATCH : MICRO_BATCHES;
          Parallelism split = stage.split();
          return times
              * (exchange.kind() == GroupExchange.Kind.ALL_TO_ALL
                  ? exchange.handedBy(part, split.parts())
                  : exchange.betweenCopies()
                      ? exchange.handedBy(part / split.pieces(), split.copies())
                      : exchange.handedBy(split.piece(part), split.pieces()));
        })
        .sum();
  }
}
