package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.exchange.TiedStates;
import dev.pipewright.exchange.ZeroStates;
import dev.pipewright.exchange.ZeroStates.Shard;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.net.CountingTransport;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.zoo.Models;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What {@link ZeroStates} and {@link TiedStates} say that workers tell each other to share out
 * states is what they do tell each other in a step, byte for byte, worker by worker: counted at the
 * transport, for each level, in one stage and in two, whole and split.
 */
class ShardVolumesTest {
  private static final int BYTES = 4;
  private static final int BATCH = 12;
  private static final int MICRO_BATCHES = 2;
  private static final long BUCKET = 20_000;

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mlp:layers=5,hidden=30,in=13,classes=4 | none | 1f1b | NONE",
        "mlp:layers=6,hidden=180,in=13,classes=4 | none | 1f1b | STAGE_INPUT",
        "mlp:layers=6,hidden=180,in=13,classes=4 | none | zb-h1 | NONE",
        "mlp:layers=3,hidden=17,in=13,classes=4 | filter | 1f1b | NONE",
        "cnn-64-128-256:size=13,classes=5 | none | 1f1b | SELECTIVE",
        "cnn-64-128-256:size=13,classes=5 | spatial | 1f1b | NONE",
        "resnet-18:size=40,classes=4,width=8 | none | 1f1b | NONE",
        "gpt:layers=4,hidden=48,heads=4,sequence=7,vocabulary=320 | none | 1f1b | NONE",
        "gpt:layers=2,hidden=16,heads=4,sequence=7,vocabulary=32 | tensor | 1f1b | NONE"
      })
  void areCountedAtTheTransport(String network, String split, String name, Recompute recompute) {
    LayerGraph graph = Models.find(network).orElseThrow().graph();
    for (int stages = 1; stages <= 2; stages++) {
      Schedule schedule =
          name.equals("1f1b")
              ? OneForwardOneBackward.of(stages, MICRO_BATCHES)
              : ZeroBubbleH1.of(stages, MICRO_BATCHES);
      Parallelism own = split.equals("none") ? Parallelism.NONE : Parallelism.of(kind(split), 2);
      List<StageLayers> cut =
          NetworksTest.cut(graph, stages).stream().map(stage -> of(stage, recompute, own)).toList();
      List<Integer> workers = Collections.nCopies(stages, 3 * own.parts());
      Assignment whole = new Assignment(schedule, cut, workers, BATCH, true);
      for (ZeroStage sharding : ZeroStage.values()) {
        if (sharding != ZeroStage.NOTHING) {
          check(graph, whole.sharded(sharding));
        }
      }
    }
  }

  private static Kind kind(String word) {
    return List.of(Kind.values()).stream()
        .filter(kind -> kind.word().equals(word))
        .findFirst()
        .orElseThrow();
  }

  /** Selectively: all layers but the first and the last. */
  private static StageLayers of(StageLayers stage, Recompute recompute, Parallelism split) {
    LayerRange range = stage.range();
    List<LayerRange> again =
        recompute == Recompute.SELECTIVE
            ? List.of(new LayerRange(range.first() + 1, range.last() - 1))
            : List.of();
    return new StageLayers(range, recompute, again, split);
  }

  private static void check(LayerGraph graph, Assignment assignment) {
    Map<Integer, Long> counted = step(graph, assignment);
    long all = 0;
    for (int worker = 0; worker < assignment.size(); worker++) {
      long communication = communication(graph, assignment, worker) * BYTES;
      assertEquals(
          communication,
          counted.getOrDefault(worker, 0L),
          assignment.sharding() + ", worker " + worker);
      all += communication;
    }
    assertTrue(all > 0, "nobody has told anybody anything");
  }

  private static Map<Integer, Long> step(LayerGraph graph, Assignment assignment) {
    Map<Integer, CountingTransport> counted = new ConcurrentHashMap<>();
    Map<Integer, Long> communication = new ConcurrentHashMap<>(); // in the step, by worker
    Training.synthetic(graph, UpdateRule.usual(Optimizer.SGD), BATCH, BUCKET)
        .run(
            assignment,
            1,
            CountingTransport.into(counted),
            new Training.Look() {
              @Override
              public void stepped(int worker, StepReport report) {
                communication.put(
                    worker, Objects.requireNonNull(counted.get(worker)).shared().get());
              }
            });
    return communication;
  }

  /** Elements of all that is gathered, or summed by parts, as far as a worker takes part. */
  private static long communication(LayerGraph graph, Assignment assignment, int worker) {
    Chain chain = Chain.of(graph);
    long[] program = assignment.schedule().packed(assignment.rankOf(worker));
    Map<Integer, Counting> stages = new HashMap<>();
    Map<Integer, Integer> left = new HashMap<>();
    for (long op : program) {
      left.merge(Schedule.stage(op), Schedule.pass(op).releases() ? 1 : 0, Integer::sum);
    }
    Set<Long> again = new HashSet<>();
    for (long op : program) {
      int stage = Schedule.stage(op);
      Pass pass = Schedule.pass(op);
      Counting own =
          stages.computeIfAbsent(
              stage, each -> new Counting(ZeroStates.of(assignment, each, worker, chain, BUCKET)));
      boolean last = left.merge(stage, pass.releases() ? -1 : 0, Integer::sum) == 0;
      boolean recomputing =
          assignment.stages().get(stage).recompute() == Recompute.STAGE_INPUT
              && pass.propagates()
              && again.add((long) Schedule.microBatch(op));
      own.states.walk(pass, recomputing, last && pass.releases(), own);
    }
    long communication = 0;
    for (Counting own : stages.values()) {
      communication +=
          own.communication
              + (own.states.gathered()
                  ? 0
                  : own.states.shards().stream().mapToLong(Shard::whole).sum());
    }
    for (TiedStates tied : TiedStates.of(assignment, chain, worker)) {
      communication += tied.shared() ? 2 * tied.whole() : 0;
    }
    return communication;
  }

  private static final class Counting implements ZeroStates.Steps {
    private final ZeroStates states;
    private final Set<Integer> there = new HashSet<>(); // segments
    private long communication;

    private Counting(ZeroStates states) {
      this.states = states;
    }

    private long whole(int segment) {
      return states.shards(segment).stream().mapToLong(Shard::whole).sum();
    }

    @Override
    public void need(int segment) {
      ahead(segment);
    }

    @Override
    public void ahead(int segment) {
      communication += there.add(segment) ? whole(segment) : 0;
    }

    @Override
    public void compute(int segment, Pass pass) {
      there.remove(segment);
    }

    @Override
    public void addUp(int segment) {
      communication += whole(segment);
    }
  }
}
