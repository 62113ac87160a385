package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.engine.LiveBytes.Kind;
import dev.pipewright.runtime.net.CountingTransport;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What workers that share out states hold, and tell each other in a step. Of the network's layers
 * three have 600 parameters, one has 125: five workers have equal parts of each.
 */
class ShardedBytesTest {
  private static final int LAYERS = 4;
  private static final long WORD = 4; // bytes of a number
  private static final long PARAMETERS = WORD * (3 * 600 + 125);
  private static final LayerGraph GRAPH = StrategiesTest.perceptron(LAYERS);

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  private static Training training() {
    return new Training(
        GRAPH,
        LossFunction.CROSS_ENTROPY,
        UpdateRule.usual(Optimizer.ADAM),
        Training.randomClasses(StrategiesTest.CLASSES, StrategiesTest.WIDTH),
        2000);
  }

  private static Assignment assignment(ZeroStage sharding, int workers, int microBatches) {
    return new Assignment(
            OneForwardOneBackward.of(1, microBatches),
            List.of(StageLayers.keeping(0, GRAPH.size() - 1)),
            List.of(workers),
            workers * microBatches,
            true)
        .sharded(sharding);
  }

  /** The bytes of collective operations that each worker has taken part in, in a step. */
  private static List<Long> communication(ZeroStage sharding, int workers, int microBatches) {
    Map<Integer, Long> communication = new TreeMap<>();
    Map<Integer, CountingTransport> counted = new ConcurrentHashMap<>();
    training()
        .run(
            assignment(sharding, workers, microBatches),
            1,
            CountingTransport.into(counted),
            new Training.Look() {
              @Override
              public void stepped(int worker, StepReport report) {
                CountingTransport own = Objects.requireNonNull(counted.get(worker));
                synchronized (communication) {
                  communication.put(worker, own.shared().get());
                  assertEquals(
                      0, own.summed().get() + own.handed().get() + own.communication().get());
                }
              }
            });
    return new ArrayList<>(communication.values());
  }

  /**
   * As many as an all-reduce has, a reduction and a gathering; gradients are shared out behind each
   * micro-batch, and parameters are gathered for each of its two passes (ZeRO, §7: Ψ and Ψ; 3 Ψ).
   */
  @Test
  void sharesOutWhatThePaperSays() {
    for (int microBatches = 1; microBatches <= 3; microBatches++) {
      long all = PARAMETERS;
      for (long communication : communication(ZeroStage.OPTIMIZER, 5, microBatches)) {
        assertEquals(2 * all, communication);
      }
      for (long communication : communication(ZeroStage.GRADIENTS, 5, microBatches)) {
        assertEquals((microBatches + 1L) * all, communication);
      }
      for (long communication : communication(ZeroStage.PARAMETERS, 5, microBatches)) {
        assertEquals(3L * microBatches * all, communication);
      }
    }
  }

  /** Parts are equal, so there are fewer zeros behind each bucket's last than workers. */
  @Test
  void sharesOutLittleMoreWhereNumbersDoNotDivide() {
    for (long communication : communication(ZeroStage.PARAMETERS, 4, 1)) {
      assertEquals(3 * (PARAMETERS + 3 * WORD), communication); // 125 and 3
    }
  }

  /** Between steps: parameters, twice as much of Adam's, and no gradients. */
  @Test
  void holdsAShareBetweenSteps() {
    assertEquals(3 * PARAMETERS, resting(ZeroStage.OPTIMIZER, 1));
    assertEquals(PARAMETERS + 2 * PARAMETERS / 5, resting(ZeroStage.OPTIMIZER, 5));
    assertEquals(PARAMETERS + 2 * PARAMETERS / 5, resting(ZeroStage.GRADIENTS, 5));
    assertEquals(3 * PARAMETERS / 5, resting(ZeroStage.PARAMETERS, 5));
    assertTrue(resting(ZeroStage.NOTHING, 5) >= 3 * PARAMETERS);
  }

  /**
   * While it computes: besides its parts the parameters of two layers, one of which is used and one
   * comes, and gradients of a layer that are added up.
   */
  @Test
  void holdsLittleMoreWithinAStep() {
    long layer = WORD * 600;
    Map<Kind, Long> most = within(ZeroStage.PARAMETERS);
    assertEquals(PARAMETERS / 5 + 2 * layer, most.getOrDefault(Kind.PARAMETERS, 0L));
    assertEquals(2 * PARAMETERS / 5, most.getOrDefault(Kind.OPTIMIZER, 0L));
    assertTrue(most.getOrDefault(Kind.GRADIENTS, 0L) <= PARAMETERS / 5 + layer + layer / 5);
    most = within(ZeroStage.GRADIENTS);
    assertEquals(PARAMETERS, most.getOrDefault(Kind.PARAMETERS, 0L));
    assertTrue(most.getOrDefault(Kind.GRADIENTS, 0L) <= PARAMETERS / 5 + layer + layer / 5);
    most = within(ZeroStage.OPTIMIZER);
    assertEquals(2 * PARAMETERS / 5, most.getOrDefault(Kind.OPTIMIZER, 0L));
    assertTrue(most.getOrDefault(Kind.GRADIENTS, 0L) >= PARAMETERS - layer);
  }

  /** The most of each kind that a worker holds when it begins with a collective operation. */
  private static Map<Kind, Long> within(ZeroStage sharding) {
    Map<Kind, Long> most = new EnumMap<>(Kind.class);
    AtomicReference<@Nullable Worker> first = new AtomicReference<>();
    Runnable look =
        () -> {
          Worker worker = first.get();
          if (worker != null) {
            LiveBytes live = worker.live();
            for (Kind kind : Kind.values()) {
              most.merge(kind, live.of(kind), Math::max);
            }
          }
        };
    training()
        .run(
            assignment(sharding, 5, 2),
            2,
            transport ->
                transport.worker() == 0 ? new ListeningTransport(transport, look) : transport,
            new Training.Look() {
              @Override
              public void begins(int worker, Worker trainingWorker) {
                if (worker == 0) {
                  first.set(trainingWorker);
                }
              }
            });
    return most;
  }

  private static long resting(ZeroStage sharding, int workers) {
    List<Long> bytes = new ArrayList<>();
    training()
        .run(
            assignment(sharding, workers, 2),
            2,
            UnaryOperator.identity(),
            new Training.Look() {
              @Override
              public void ended(Worker worker) {
                synchronized (bytes) {
                  bytes.add(worker.restingBytes());
                }
              }
            });
    assertEquals(workers, bytes.size());
    assertEquals(1, bytes.stream().distinct().count());
    return bytes.get(0);
  }
}
