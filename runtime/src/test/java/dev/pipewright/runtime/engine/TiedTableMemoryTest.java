package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.zoo.Models;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A worker that has the embedding and the head of a language model holds their table once. */
class TiedTableMemoryTest {
  private static final LayerGraph GRAPH =
      Models.find("gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=320").orElseThrow().graph();
  private static final int BATCH = 4;
  private static final int STEPS = 3;
  private static final Training TRAINING =
      Training.synthetic(GRAPH, UpdateRule.usual(Optimizer.ADAM), BATCH, 20_000);

  /** Parameters, of which the graph counts the table once, and two moments of each. */
  private static final long STATES = 3 * 4 * GRAPH.parameters();

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  private static List<StageLayers> cut(int stages) {
    return IntStream.range(0, stages)
        .mapToObj(i ->
            StageLayers.keeping(i * GRAPH.size() / stages, (i + 1) * GRAPH.size() / stages - 1))
        .toList();
  }

  private static Assignment flushed(Schedule schedule) {
    List<StageLayers> cut = cut(schedule.placement().depth());
    return new Assignment(schedule, cut, Collections.nCopies(schedule.ranks(), 1), BATCH, false);
  }

  /** Checks what all workers hold between steps; what they have learnt. */
  private static Training.Result run(Assignment assignment, long expected) {
    AtomicLong bytes = new AtomicLong();
    Training.Result result =
        TRAINING.run(
            assignment,
            STEPS,
            UnaryOperator.identity(),
            new Training.Look() {
              @Override
              public void ended(Worker worker) {
                bytes.addAndGet(worker.restingBytes());
              }
            });
    assertEquals(expected, bytes.get(), assignment.schedule().name());
    return result;
  }

  @Test
  void whereStepsEndWithAFlush() {
    Training.Result one = run(flushed(OneForwardOneBackward.of(1, 2)), STATES);
    Training.Result chunks = run(flushed(Interleaved.of(1, 2, 2)), STATES);
    long table = 3 * 4 * 320 * 16;
    Training.Result two = run(flushed(OneForwardOneBackward.of(2, 2)), STATES + table);
    assertEquals(0, Training.difference(one, chunks));
    assertEquals(0, Training.difference(one, two));
  }

  @Test
  void inAsynchronousPipelines() {
    Training.Result one = run(flushed(OneForwardOneBackward.of(1, 1)), STATES);
    AsyncPipeline stashed = new AsyncPipeline.PipeDream(List.of(1), false);
    assertEquals(0, Training.difference(one, run(asynchronous(stashed), STATES)));
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      Training.Result versions =
          TRAINING.run(asynchronous(cyclic(Cyclic.Form.SINGLE, rule)), STEPS);
      Training.Result migrating = run(asynchronous(cyclic(Cyclic.Form.ZERO, rule)), STATES);
      assertEquals(0, Training.difference(versions, migrating), rule.toString());
    }
  }

  private static AsyncPipeline cyclic(Cyclic.Form form, Cyclic.Rule rule) {
    return new AsyncPipeline.CyclicDataParallel(new Cyclic(1), form, rule);
  }

  private static Assignment asynchronous(AsyncPipeline asyncPipeline) {
    return Assignment.of(asyncPipeline, cut(1), List.of(1), BATCH);
  }
}
