package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.pipewright.exchange.OwnershipSchedule;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.transport.PassingTransport;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What an {@link OwnershipSchedule} says that workers send each other is what they do send, message
 * by message: counted at the transport, for each rule of cyclic workers.
 */
class MigrationVolumesTest {
  private static final int BYTES = 4;
  private static final int BATCH = 12;
  private static final int STEPS = 4;

  /** From a worker. */
  private record Message(int to, long bytes) {}

  /** Notes what its worker sends. */
  private record Noting(Transport through, List<Message> sent) implements PassingTransport {
    @Override
    public Pending send(Tensor tensor, int to, int tag) {
      if (tag >= Relay.FIRST_TAG) { // the rest are averages, behind the steps
        sent.add(new Message(to, tensor.bytes()));
      }
      return through.send(tensor, to, tag);
    }
  }

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mlp:layers=6,hidden=18,in=13,classes=4 | SGD",
        "mlp:layers=6,hidden=18,in=13,classes=4 | ADAM",
        "cnn-64-128-256:size=8,classes=3 | MOMENTUM",
        "resnet-18:size=32,classes=4,width=4 | MOMENTUM",
        "gnmt:layers=4,hidden=16,steps=6,vocabulary=32 | ADAM"
      })
  void areCountedAtTheTransport(String network, Optimizer optimizer) {
    LayerGraph graph = Models.find(network).orElseThrow().graph();
    for (int workers = 1; workers <= 3; workers++) {
      for (Cyclic.Rule rule : Cyclic.Rule.values()) {
        AsyncPipeline asyncPipeline =
            new AsyncPipeline.CyclicDataParallel(new Cyclic(workers), Cyclic.Form.ZERO, rule);
        Assignment assignment =
            Assignment.of(
                asyncPipeline,
                NetworksTest.cut(graph, workers),
                Collections.nCopies(workers, 1),
                BATCH);
        Map<Integer, List<Message>> found = run(graph, assignment, optimizer);
        for (int worker = 0; worker < workers; worker++) {
          List<Message> wanted = wanted(graph, assignment.over(STEPS), optimizer, worker);
          assertEquals(wanted, found.get(worker), asyncPipeline.name() + ", worker " + worker);
          assertEquals(workers == 1, wanted.isEmpty());
        }
      }
    }
  }

  private static Map<Integer, List<Message>> run(
      LayerGraph graph, Assignment assignment, Optimizer optimizer) {
    Map<Integer, List<Message>> sent = new ConcurrentHashMap<>();
    Training.synthetic(graph, UpdateRule.usual(optimizer), BATCH, Long.MAX_VALUE)
        .run(
            assignment,
            STEPS,
            transport -> {
              List<Message> own = new ArrayList<>();
              sent.put(transport.worker(), own);
              return new Noting(transport, own);
            },
            new Training.Look() {});
    assertFalse(sent.isEmpty());
    return sent;
  }

  /** First what is not at home where it is needed first; then behind each op. */
  private static List<Message> wanted(
      LayerGraph graph, Assignment all, Optimizer optimizer, int worker) {
    List<Message> wanted = new ArrayList<>();
    List<OwnershipSchedule> ways = new ArrayList<>();
    for (int depth = 0; depth < all.stages().size(); depth++) {
      OwnershipSchedule way = OwnershipSchedule.of(all, depth);
      ways.add(way);
      if (way.worker(-1) == worker) {
        wanted.addAll(messages(graph, all, optimizer, depth, way, 0));
      }
    }
    int rank = all.rankOf(worker);
    long[] program = all.schedule().packed(rank);
    for (int at = 0; at < program.length; at++) {
      if (Schedule.pass(program[at]) != Pass.HAND_ON) {
        int depth = Schedule.stage(program[at]) % all.stages().size();
        OwnershipSchedule way = Objects.requireNonNull(ways.get(depth));
        wanted.addAll(messages(graph, all, optimizer, depth, way, way.at(rank, at) + 1));
      }
    }
    return wanted;
  }

  /** By which a stage comes to a stop. */
  private static List<Message> messages(
      LayerGraph graph,
      Assignment all,
      Optimizer optimizer,
      int depth,
      OwnershipSchedule way,
      int stop) {
    if (!way.comes(stop)) {
      return List.of();
    }
    Chain chain = Chain.of(graph);
    LayerRange range = all.stages().get(depth).range();
    long numbers =
        Arrays.stream(chain.layers(range.first() - 1, range.last()))
            .mapToLong(layer -> graph.layer(layer).parameters())
            .sum();
    int remembered = optimizer == Optimizer.ADAM ? 2 : optimizer == Optimizer.SGD ? 0 : 1;
    Message each = new Message(way.worker(stop), Math.max(1, numbers) * BYTES);
    return Collections.nCopies(1 + remembered + way.extra(stop), each);
  }
}
