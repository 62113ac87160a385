package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Optimizer;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.runtime.tensor.Torch;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Bounds are exact from below but for what the system does not count. */
class NeedsTaskTest {
  private static final double NOT_COUNTED = 1 << 20;

  private static LayersJob job(String model, List<Integer> batches) {
    return new LayersJob(
        model, OptionalInt.empty(), "synthetic", batches, 1, Optimizer.MOMENTUM, true);
  }

  @Test
  void aProductNeedsThePartOfTheGradientThatItAdds() {
    int batch = 64;
    double weights = 4.0 * 2048 * 6144;
    double samples = 4.0 * batch * 2048;
    double output = 4.0 * batch * 6144;
    List<List<LayerMemory>> answers = new ArrayList<>();
    new WorkerGroups(1)
        .runFrugal(
            1,
            NeedsTask.class,
            job("mlp:layers=1,hidden=6144,in=2048,classes=8", List.of(batch)).text(),
            (worker, text) -> answers.add(NeedsTask.parse(text)));
    LayerMemory product = answers.get(0).get(1);
    // While the product's gradient is made, that of what the relu reads takes the place of what the
    // relu gave, which is freed.
    assertTrue(product.working() >= weights - NOT_COUNTED, product.toString());
    assertTrue(product.working() <= weights + 2 * output + NOT_COUNTED, product.toString());
    // In two parts: the product's own output is kept with the relu's, and its gradient waits.
    assertEquals(2 * output, product.splitKept());
    assertEquals(output, product.deferred());
    assertEquals(samples, answers.get(0).get(0).splitKept());
  }

  @Test
  void everyBatchIsAnswered() {
    Torch.start(1);
    List<List<LayerMemory>> answers = new ArrayList<>();
    NeedsTask.measure(job("mlp:layers=2,hidden=8,in=4,classes=2", List.of(1, 3)), answers::add);
    assertEquals(2, answers.size());
    double[] kept = {4.0 * 4, 2 * 4.0 * 8, 2 * 4.0 * 8, 4.0 * 2};
    for (int layer = 0; layer < kept.length; layer++) {
      assertEquals(kept[layer], answers.get(0).get(layer).splitKept(), "layer " + layer);
      assertEquals(3 * kept[layer], answers.get(1).get(layer).splitKept(), "layer " + layer);
    }
  }
}
