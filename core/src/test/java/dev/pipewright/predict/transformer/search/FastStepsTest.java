package dev.pipewright.predict.transformer.search;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MicroBatchTerms;
import dev.pipewright.predict.transformer.PassSeconds;
import dev.pipewright.predict.transformer.StepBreakdown;
import dev.pipewright.predict.transformer.StepEvaluator;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerPhases;
import dev.pipewright.predict.transformer.TransformerPrediction;
import dev.pipewright.predict.transformer.TransformerRankBytes;
import dev.pipewright.predict.transformer.TransformerRun;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** Steps from tables equal predictions in full, on a hundred thousand layouts by chance. */
class FastStepsTest {
  private static final double SAME = 1e-12; // relative
  private static final int LAYOUTS = 500; // of each space

  private static void same(double expected, double value, double scale, Object layout) {
    assertEquals(expected, value, SAME * Math.abs(scale), () -> String.valueOf(layout));
  }

  @RepeatedTest(200)
  void stepsFromTablesEqualPredictionsInFull(RepetitionInfo seed) {
    RandomSpaces random = new RandomSpaces(seed.getCurrentRepetition());
    CalibratedConstants constants = random.constants();
    SearchSpace space = random.space(constants);
    UnaryOperator<TransformerRun> software = random.software();
    List<SearchMesh> meshes = SearchTables.of(space, constants, software);
    for (int i = 0; i < LAYOUTS; i++) {
      SearchMesh mesh = meshes.get((int) random.next(meshes.size()));
      int choice = (int) random.next(mesh.choices());
      int size = (int) random.next(mesh.sizes());
      int zero = (int) random.next(mesh.zeros());
      int offload = (int) random.next(mesh.offloads());
      MicroBatchTerms one = mesh.microBatch(choice, size);
      StepEvaluator step = new StepEvaluator(mesh.terms(), one, mesh.batches(size));
      step.zero(space.zeroChoices().get(zero).index());
      int offloaded = space.values().offload().get(offload);
      long number =
          mesh.number(choice, size) + (long) zero * space.values().offload().size() + offload;
      SearchedLayout layout = space.layout(number);
      TransformerPrediction full =
          TransformerOracle.predict(software.apply(space.choices(layout).run()), constants);
      equal(full, step.seconds(offloaded), step.bytes(offloaded), layout);
      equal(full, step.breakdown(offloaded), layout);
      assertEquals(full.fits(), mesh.terms().holds(step.bytes(offloaded)));
    }
  }

  private static void equal(
      TransformerPrediction full, double seconds, double bytes, SearchedLayout layout) {
    same(full.iterationSeconds(), seconds, full.iterationSeconds(), layout);
    same(full.worst().total(), bytes, full.worst().total(), layout);
  }

  private static void equal(TransformerPrediction full, StepBreakdown fast, SearchedLayout layout) {
    double scale = full.iterationSeconds();
    double[] expected = seconds(full.phases());
    double[] found = seconds(fast.phases());
    for (int i = 0; i < expected.length; i++) {
      same(expected[i], found[i], scale, layout);
    }
    assertEquals(full.worst(), full.ranks().get(fast.rank()));
    TransformerRankBytes worst = full.worst();
    same(worst.state(), fast.bytes().state(), worst.state(), layout);
    same(worst.activations(), fast.bytes().activations(), worst.activations(), layout);
    same(worst.workingSet(), fast.bytes().workingSet(), worst.workingSet(), layout);
    same(worst.logits(), fast.bytes().logits(), worst.logits(), layout);
    same(worst.embedding(), fast.bytes().embedding(), worst.embedding(), layout);
    same(worst.workspace(), fast.bytes().workspace(), worst.workspace(), layout);
  }

  private static double[] seconds(TransformerPhases phases) {
    PassSeconds layers = phases.layers();
    return new double[] {
      layers.products(),
      layers.attention(),
      layers.elementwise(),
      layers.casts(),
      layers.tensorParallel(),
      layers.contextParallel(),
      layers.allToAll(),
      layers.launch(),
      phases.recomputation(),
      phases.ends(),
      phases.offload(),
      phases.bubble(),
      phases.transfers(),
      phases.sharding(),
      phases.dataParallel(),
      phases.optimizer(),
      phases.stragglers(),
      phases.fixed()
    };
  }
}
