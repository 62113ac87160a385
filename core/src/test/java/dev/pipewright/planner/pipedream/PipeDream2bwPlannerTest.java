package dev.pipewright.planner.pipedream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning.Candidate;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning.Stage;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PipeDream2bwPlannerTest {
  private static final Training ADAM = new Training(Optimizer.ADAM, Precision.FP32);

  private static PipeDream2bwSetting random(SplittableRandom random) {
    Networks network = Networks.random(random, 7, random.nextInt(3) == 0);
    List<LayerSizes> sizes = new ArrayList<>();
    List<LayerTimes> one = new ArrayList<>();
    List<LayerTimes> four = new ArrayList<>();
    for (int layer = 0; layer < network.seconds().length; layer++) {
      sizes.add(
          new LayerSizes(
              network.outputs()[layer] / 10,
              network.outputs()[layer],
              network.parameters()[layer]));
      double forward = network.seconds()[layer];
      double backward = 2 * forward + random.nextDouble();
      one.add(new LayerTimes(forward, backward, Double.NaN, 0));
      four.add(new LayerTimes(3 * forward, 3.5 * backward, Double.NaN, 0));
    }
    boolean measuredTwice = random.nextBoolean();
    Profile profile =
        new Profile(
            new Provenance("test", "none", "", false),
            Precision.FP32,
            sizes,
            measuredTwice ? List.of(1, 4) : List.of(1),
            measuredTwice ? List.of(one, four) : List.of(one));
    return new PipeDream2bwSetting(
        network.chain(),
        profile,
        ADAM,
        Networks.levels(random, random.nextInt(1, 3), 3),
        Math.pow(10, random.nextInt(8, 13)),
        random.nextInt(1, 25));
  }

  /** Every cut of every configuration, by the words of the paper. */
  private record Exhaustive(PipeDream2bwSetting setting, int[] path) {
    /** Seconds of the best cuts by width, micro-batch and recomputation, where something fits. */
    Map<String, Double> seconds(double[] leastPeak) {
      Map<String, Double> found = new TreeMap<>();
      for (int w = 1; w <= setting.devices(); w++) {
        for (int b = 1; b <= setting.globalBatch(); b++) {
          int d = setting.stages().orElse(setting.devices() / w);
          boolean fewer = setting.stages().isPresent() && w * d < setting.devices();
          if ((w * d != setting.devices() && !fewer)
              || setting.globalBatch() % (w * b) != 0
              || setting.globalBatch() / (w * b) < d) {
            continue;
          }
          for (boolean recompute : new boolean[] {false, true}) {
            double best = cuts(new int[] {0}, w, d, b, recompute, leastPeak);
            if (best < Double.POSITIVE_INFINITY) {
              int updates = setting.globalBatch() / (w * b);
              found.put(w + " " + b + " " + recompute, best * updates);
            }
          }
        }
      }
      return found;
    }

    private double cuts(int[] cuts, int w, int d, int b, boolean recompute, double[] leastPeak) {
      if (cuts.length == d + 1) {
        return cuts[d] == path.length ? slowest(cuts, w, b, recompute, leastPeak) : infinite();
      }
      double best = infinite();
      for (int next = cuts[cuts.length - 1] + 1; next <= path.length; next++) {
        int[] more = java.util.Arrays.copyOf(cuts, cuts.length + 1);
        more[cuts.length] = next;
        best = Math.min(best, cuts(more, w, d, b, recompute, leastPeak));
      }
      return best;
    }

    private static double infinite() {
      return Double.POSITIVE_INFINITY;
    }

    private double slowest(int[] cuts, int w, int b, boolean recompute, double[] leastPeak) {
      int d = cuts.length - 1;
      int updates = setting.globalBatch() / (w * b);
      double slowest = 0;
      double peak = 0;
      for (int s = 0; s < d; s++) {
        double forward = 0;
        double backward = 0;
        double weights = 0;
        double kept = 0;
        for (int layer : layers(cuts[s], cuts[s + 1])) {
          forward += setting.profile().seconds(Profile.Quantity.FORWARD, b)[layer];
          backward += setting.profile().seconds(Profile.Quantity.BACKWARD, b)[layer];
          weights += setting.profile().sizes(layer).parameters();
          kept += b * setting.profile().sizes(layer).kept();
        }
        double in = s == 0 ? 0 : b * crossing(cuts[s]);
        double out = s == d - 1 ? 0 : b * crossing(cuts[s + 1]);
        double moved = in == 0 ? 0 : in / rate((s - 1) * w, (s + 1) * w - 1);
        moved += out == 0 ? 0 : out / rate(s * w, (s + 2) * w - 1);
        double ring = w == 1 ? 0 : 2.0 * (w - 1) / w * weights / rate(s * w, (s + 1) * w - 1);
        double compute = forward + backward + (recompute ? forward : 0);
        slowest = Math.max(slowest, Math.max(compute + moved, ring / updates));
        double held = weights * (4 + 4 + 8 + 4) / 4; // weight, gradient, moments, second version
        peak = Math.max(peak, held + (recompute ? kept + (d - s) * in : (d - s) * (in + kept)));
      }
      leastPeak[0] = Math.min(leastPeak[0], peak);
      return peak <= setting.memoryBytes() ? slowest : infinite();
    }

    private int[] layers(int from, int to) {
      return setting.chain().layers(from == 0 ? -1 : path[from - 1], path[to - 1]);
    }

    private double crossing(int place) {
      return setting.chain().crossing(setting.profile().outputBytes())[path[place - 1]];
    }

    private double rate(int first, int last) {
      BandwidthLevel inner = setting.levels().get(0);
      return first / inner.units() == last / inner.units()
          ? inner.bytesPerSecond()
          : setting.levels().get(1).bytesPerSecond();
    }
  }

  @RepeatedTest(300)
  void everyConfigurationIsAsFastAsExhaustiveSearchMakesIt(RepetitionInfo seed) {
    compare(random(new SplittableRandom(seed.getCurrentRepetition())));
  }

  @RepeatedTest(100)
  void exactlySoManyStagesAreAsFastAsExhaustiveSearchMakesThem(RepetitionInfo seed) {
    var random = new SplittableRandom(5000 + seed.getCurrentRepetition());
    PipeDream2bwSetting any = random(random);
    for (int stages = 1; stages <= Math.min(any.devices(), any.chain().size()); stages++) {
      PipeDream2bwSetting setting =
          new PipeDream2bwSetting(
              any.chain(),
              any.profile(),
              any.training(),
              any.levels(),
              any.memoryBytes(),
              any.globalBatch(),
              OptionalInt.of(stages));
      compare(setting);
      for (Candidate found : PipeDream2bwPlanner.plan(setting, () -> false).candidates()) {
        assertEquals(stages, found.depth());
      }
    }
  }

  private static void compare(PipeDream2bwSetting setting) {
    PipeDream2bwPlanning planning = PipeDream2bwPlanner.plan(setting, () -> false);
    double[] leastPeak = {Double.POSITIVE_INFINITY};
    Map<String, Double> expected =
        new Exhaustive(setting, OnePath.positions(setting.chain())).seconds(leastPeak);
    assertTrue(planning.complete());
    assertEquals(expected.size(), planning.candidates().size());
    double before = 0;
    for (Candidate found : planning.candidates()) {
      String name = found.width() + " " + found.microBatch() + " " + found.recompute();
      assertTrue(expected.containsKey(name), name);
      assertEquals(expected.get(name), found.seconds(), 1e-9 * found.seconds());
      assertTrue(found.seconds() >= before);
      assertTrue(found.seconds() >= planning.lowerBound().value() * (1 - 1e-9));
      before = found.seconds();
      checkStages(setting, found);
    }
    if (expected.isEmpty()) {
      assertTrue(planning.best().isEmpty());
      if (leastPeak[0] < Double.POSITIVE_INFINITY) {
        assertEquals(leastPeak[0], planning.leastPeakBytes(), 1e-9 * leastPeak[0]);
      }
      assertTrue(planning.leastPeakBytes() > setting.memoryBytes());
    }
  }

  private static void checkStages(PipeDream2bwSetting setting, Candidate found) {
    int next = 0;
    double slowest = 0;
    for (Stage stage : found.stages()) {
      assertEquals(next, stage.firstLayer());
      next = stage.lastLayer() + 1;
      assertEquals(found.width(), stage.devices().size());
      assertTrue(stage.memoryBytes() <= setting.memoryBytes());
      slowest =
          Math.max(
              slowest,
              Math.max(
                  (stage.computeSeconds() + stage.transferSeconds()) * found.microBatches(),
                  stage.exchangeSeconds()));
    }
    assertEquals(setting.chain().size(), next);
    assertEquals(slowest, found.seconds(), 1e-9 * slowest);
    int devices = found.width() * found.depth();
    assertTrue(
        setting.stages().isPresent() ? devices <= setting.devices() : devices == setting.devices());
    assertTrue(found.microBatches() >= found.depth()); // two versions of the weights suffice
    assertEquals(setting.globalBatch(), found.width() * found.microBatch() * found.microBatches());
  }

  @Test
  void recomputationIsTakenWhereNothingElseFits() {
    PipeDream2bwSetting roomy = fourLayers(1e12);
    Candidate fast = PipeDream2bwPlanner.plan(roomy, () -> false).best().orElseThrow();
    assertFalse(fast.recompute());
    PipeDream2bwSetting tight = fourLayers(300);
    Candidate kept = PipeDream2bwPlanner.plan(tight, () -> false).best().orElseThrow();
    assertTrue(kept.recompute());
    assertTrue(kept.seconds() > fast.seconds());
    assertTrue(kept.binding().endsWith("of memory with recomputation"), kept.binding());
    assertTrue(kept.peakBytes() <= 300);
    assertTrue(PipeDream2bwPlanner.plan(fourLayers(1), () -> false).best().isEmpty());
  }

  /** Small weights, so that all memory is activations: 100 bytes kept and 10 sent by each layer. */
  private static PipeDream2bwSetting fourLayers(double memoryBytes) {
    List<LayerSizes> sizes = Collections.nCopies(4, new LayerSizes(10, 100, 1));
    List<LayerTimes> times = Collections.nCopies(4, new LayerTimes(1, 2, Double.NaN, 0));
    Profile profile =
        new Profile(
            new Provenance("test", "none", "", false),
            Precision.FP32,
            sizes,
            List.of(1),
            List.of(times));
    Chain chain =
        Chain.of(Networks.graph(4, List.of(new Edge(0, 1), new Edge(1, 2), new Edge(2, 3))));
    return new PipeDream2bwSetting(
        chain, profile, ADAM, List.of(new BandwidthLevel(2, 1e3)), memoryBytes, 4);
  }

  @Test
  void aStoppedSearchSaysSo() {
    int[] asked = {0};
    PipeDream2bwPlanning stopped =
        PipeDream2bwPlanner.plan(fourLayers(1e12), () -> asked[0]++ >= 1);
    assertFalse(stopped.complete());
    assertEquals(1, stopped.candidates().size());
  }

  @Test
  void settingsAreChecked() {
    PipeDream2bwSetting good = fourLayers(1);
    assertThrows(
        IllegalArgumentException.class,
        () -> new PipeDream2bwSetting(good.chain(), good.profile(), ADAM, good.levels(), 1, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new PipeDream2bwSetting(good.chain(), good.profile(), ADAM, List.of(), 1, 1));
  }

  /**
   * Whether a profile counts a table that two layers read in one of them or in both, a stage with
   * one of the layers holds it, and a stage with both holds it once.
   */
  @Test
  void aTiedTableCountsOnceInEachStage() {
    LayerGraph graph =
        Models.find("gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=320")
            .orElseThrow()
            .graph();
    for (int depth = 1; depth <= 2; depth++) {
      List<Stage> once = stages(graph, 0, depth);
      assertEquals(once, stages(graph, TABLE, depth));
      double states = 20 * TABLE / 4 + 5 * 2 * REST; // two versions, gradients and two moments
      assertEquals(depth == 1 ? states + 5 * 2 * REST : states, once.getLast().memoryBytes(), 1e-6);
    }
  }

  private static final double TABLE = 4 * 320 * 16;
  private static final double REST = 1000;

  /** Of four layers, whose last counts some bytes of a table. */
  private static List<Stage> stages(LayerGraph graph, double counted, int depth) {
    List<LayerSizes> sizes = new ArrayList<>();
    for (double table : new double[] {TABLE, 0, 0, counted}) {
      sizes.add(new LayerSizes(0, 0, REST + table));
    }
    Profile profile =
        new Profile(
            new Provenance("test", "none", "", false),
            Precision.FP32,
            sizes,
            List.of(1),
            List.of(Collections.nCopies(4, new LayerTimes(1, 1, Double.NaN, 0))));
    var level = new BandwidthLevel(2, 1e9);
    PipeDream2bwSetting setting =
        new PipeDream2bwSetting(
            Chain.of(graph), profile, ADAM, List.of(level), 1e9, 2, OptionalInt.of(depth));
    return PipeDream2bwPlanner.plan(setting, () -> false).candidates().get(0).stages();
  }
}
