package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.formats.memory.MemoryCurveCsv;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.engine.LiveBytes.Kind;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.cyclic.Cyclic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a run says of the memory that its workers' tensors take up over a step. */
class MemoryRecordTest {
  private static final String MODEL = "mlp:layers=3,hidden=16,in=12,classes=4";
  private static final long WORD = 4; // bytes of a number
  private static final long PARAMETERS = WORD * (13 * 16 + 2 * 17 * 16 + 17 * 4);
  private static final String TRANSFORMER =
      "vit:layers=16,hidden=32,heads=2,patch=8,size=32,classes=4";

  @TempDir private Path folder;

  /** Before each op and at the end of the step: bytes of each kind. */
  private List<long[]> recorded(String model, Assignment assignment, int worker)
      throws IOException {
    Path out = Files.createTempDirectory(folder, "run");
    Runs runs = new Runs(model, assignment, Optimizer.MOMENTUM, Workers.THREADS, 6, 0);
    new Trainer().train(runs.request(out, Optional.empty()), step -> {});
    Path file = out.resolve(MemoryFile.FOLDER).resolve("worker-" + worker + ".csv");
    assertTrue(MemoryCurveCsv.read(file).seconds().length > 2);
    List<String> lines = Files.readAllLines(file);
    assertEquals("time,bytes,parameters,optimizer,gradients,activations,messages", lines.get(0));
    List<long[]> samples = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      String[] cells = line.split(",", -1);
      long[] bytes = Arrays.stream(cells).skip(2).mapToLong(Long::parseLong).toArray();
      assertEquals(Long.parseLong(cells[1]), Arrays.stream(bytes).sum());
      samples.add(bytes);
    }
    return samples;
  }

  private static long of(long[] sample, Kind kind) {
    return sample[List.of(Kind.values()).indexOf(kind)];
  }

  private static long most(List<long[]> samples, Kind kind) {
    return samples.stream().mapToLong(sample -> of(sample, kind)).max().orElseThrow();
  }

  private static Assignment whole(String model, int microBatches, int workers, int batch) {
    int size = Chain.of(RunnableModel.of(model)).size();
    return new Assignment(
        workers == 1 ? GPipe.of(1, microBatches) : OneForwardOneBackward.of(1, microBatches),
        List.of(StageLayers.keeping(0, size - 1)),
        List.of(workers),
        batch,
        false);
  }

  /** Each layer keeps what it reads: pictures of 12 numbers, then what 16 features have become. */
  @Test
  void eachTensorIsCountedOnceForWhatItIsFor() throws IOException {
    List<long[]> samples = recorded(MODEL, whole(MODEL, 2, 1, 10), 0);
    assertEquals(6, samples.size()); // four ops, the update and the end
    long micro = WORD * 5 * (12 + 3 * 16 + 4 + 4); // with scores, and their gradients
    long[] activations = {0, micro, 2 * micro, micro, 0, 0};
    long[] gradients = {0, 0, 0, PARAMETERS, PARAMETERS, 0};
    for (int i = 0; i < activations.length; i++) {
      assertEquals(activations[i], of(samples.get(i), Kind.ACTIVATIONS), "sample " + i);
      assertEquals(gradients[i], of(samples.get(i), Kind.GRADIENTS), "sample " + i);
      assertEquals(PARAMETERS, of(samples.get(i), Kind.PARAMETERS));
      assertEquals(PARAMETERS, of(samples.get(i), Kind.OPTIMIZER));
      assertEquals(0, of(samples.get(i), Kind.MESSAGES));
    }
  }

  /** Four workers with equal parts of each state, where it is shared out. */
  @Test
  void sharedStatesTakeUpTheirShare() throws IOException {
    Assignment four = whole(MODEL, 2, 4, 16);
    List<long[]> optimizer = recorded(MODEL, four.sharded(ZeroStage.OPTIMIZER), 1);
    assertEquals(PARAMETERS, most(optimizer, Kind.PARAMETERS));
    assertEquals(PARAMETERS / 4, most(optimizer, Kind.OPTIMIZER));
    assertTrue(most(optimizer, Kind.GRADIENTS) >= PARAMETERS);
    List<long[]> all = recorded(MODEL, four.sharded(ZeroStage.PARAMETERS), 3);
    assertEquals(PARAMETERS / 4, most(all, Kind.PARAMETERS));
    assertEquals(PARAMETERS / 4, most(all, Kind.OPTIMIZER));
    assertEquals(0, of(all.get(all.size() - 1), Kind.GRADIENTS));
  }

  /**
   * Of eight micro-batches in one place that begin one after another no more is held than half and
   * a little: 36 of 64 stages where all are alike (arXiv:2403.08837, §4.1).
   */
  @Test
  void cyclicTrainingInOnePlaceHoldsLittleMoreThanHalf() throws IOException {
    List<StageLayers> stages = new ArrayList<>();
    int first = 0;
    for (int last = 4; last <= 18; last += 2) { // two blocks, and what is before or behind all
      stages.add(StageLayers.keeping(first, last < 18 ? last : 20));
      first = last + 1;
    }
    long together = most(recorded(TRANSFORMER, whole(TRANSFORMER, 8, 1, 16), 0), Kind.ACTIVATIONS);
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      AsyncPipeline asyncPipeline =
          new AsyncPipeline.CyclicDataParallel(new Cyclic(8), Cyclic.Form.SINGLE, rule);
      Assignment cyclic = Assignment.of(asyncPipeline, stages, List.of(1), 16);
      double ratio = most(recorded(TRANSFORMER, cyclic, 0), Kind.ACTIVATIONS) / (double) together;
      assertTrue(ratio <= 0.62 && ratio >= 0.5625 - 0.02, rule + " " + ratio);
    }
  }
}
