package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Workload;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting.Exchange;
import dev.pipewright.predict.paradl.Setting.Formulas;
import dev.pipewright.units.Bytes;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** A better machine is never worse, whatever the strategy and the formulas. */
class MonotonicityTest {
  /** One question, which can be asked of other machines and for other batches. */
  private record Question(
      SmallNet net, long seed, Formulas formulas, Exchange exchange, Strategy strategy) {
    Optional<Predicted> ask(Cluster cluster, int devices, long batch) {
      Workload workload = net.on(cluster, seed);
      Setting setting =
          new Setting(
              workload,
              1000,
              formulas,
              exchange,
              OptionalInt.empty(),
              OptionalInt.of(2),
              OptionalDouble.empty(),
              Optional.empty());
      Prediction prediction = new ParadlOracle(setting).predict(strategy, devices, batch);
      return prediction instanceof Predicted predicted ? Optional.of(predicted) : Optional.empty();
    }
  }

  private static Question question(SplittableRandom random, Strategy strategy) {
    Formulas[] formulas = Formulas.values();
    Exchange[] exchanges = Exchange.values();
    return new Question(
        SmallNet.random(random),
        random.nextLong(),
        formulas[random.nextInt(formulas.length)],
        exchanges[random.nextInt(exchanges.length)],
        strategy);
  }

  private static void noSlower(Predicted better, Predicted usual, String why) {
    double slower = better.iterationSeconds() - usual.iterationSeconds();
    assertTrue(slower <= 1e-12 * usual.iterationSeconds(), why + " costs " + slower);
  }

  @RepeatedTest(value = 40, name = SmallNet.SEEDED)
  void moreBandwidthAndLessLatencyAreNeverSlower(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    for (Strategy strategy : Strategy.values()) {
      Question question = question(random, strategy);
      int devices = 1 << random.nextInt(5);
      double ports = random.nextInt(1, 4);
      double factor = random.nextDouble(1, 8);
      Cluster usual = SmallNet.nodes(4, ports);
      Optional<Predicted> before = question.ask(usual, devices, 32);
      if (before.isEmpty()) {
        continue;
      }
      Cluster wide = SmallNet.nodes(4, ports, 1, factor);
      Cluster quick = SmallNet.nodes(4, ports, 1 / factor, 1);
      noSlower(question.ask(wide, devices, 32).orElseThrow(), before.get(), strategy + ": wide");
      noSlower(question.ask(quick, devices, 32).orElseThrow(), before.get(), strategy + ": quick");
      Cluster more = SmallNet.nodes(4, ports + 1);
      noSlower(question.ask(more, devices, 32).orElseThrow(), before.get(), strategy + ": ports");
    }
  }

  @RepeatedTest(value = 20, name = SmallNet.SEEDED)
  void moreMemoryChangesNothingButWhatFits(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Cluster usual = SmallNet.nodes(4, 1);
    for (Strategy strategy : Strategy.values()) {
      Question question = question(random, strategy);
      Optional<Predicted> before = question.ask(usual, 4, 32);
      if (before.isEmpty()) {
        continue;
      }
      long needed = (long) Math.ceil(before.get().memory().total());
      for (long capacity : new long[] {needed - 1, needed, 2 * needed}) {
        Predicted after = question.ask(usual.withMemory(new Bytes(capacity)), 4, 32).orElseThrow();
        for (Phase phase : Phase.values()) {
          assertEquals(before.get().phases().seconds(phase), after.phases().seconds(phase));
        }
        assertEquals(before.get().memory(), after.memory());
        assertEquals(capacity >= needed, after.fits());
      }
    }
  }

  @RepeatedTest(value = 40, name = SmallNet.SEEDED)
  void aLargerBatchNeedsNoLessMemoryAndNoLessTime(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    for (Strategy strategy : Strategy.values()) {
      Question question = question(random, strategy);
      int devices = 1 << random.nextInt(4);
      long batch = 16L * random.nextInt(1, 5);
      long larger = batch + 16L * random.nextInt(1, 5);
      Cluster cluster = SmallNet.nodes(4, 1);
      Optional<Predicted> before = question.ask(cluster, devices, batch);
      if (before.isEmpty()) {
        continue;
      }
      Predicted after = question.ask(cluster, devices, larger).orElseThrow();
      assertTrue(after.memory().total() >= before.get().memory().total(), strategy + " needs less");
      assertTrue(
          after.iterationSeconds() >= before.get().iterationSeconds(), strategy + " is faster");
    }
  }

  /** Sharing out the state needs less memory the more of it is shared out. */
  @RepeatedTest(value = 20, name = SmallNet.SEEDED)
  void moreShardingHoldsLessState(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    SmallNet net = SmallNet.random(random);
    int devices = 2 << random.nextInt(3);
    double before = Double.POSITIVE_INFINITY;
    for (Strategy strategy :
        new Strategy[] {Strategy.DATA, Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3}) {
      Question question = new Question(net, 1, Formulas.CORRECTED, Exchange.USUAL, strategy);
      MemoryUse use = question.ask(SmallNet.nodes(4, 1), devices, 32).orElseThrow().memory();
      double state = use.weights() + use.gradients() + use.optimizer();
      assertTrue(state < before, strategy + " holds " + state);
      before = state;
    }
  }

  @RepeatedTest(value = 10, name = SmallNet.SEEDED)
  void theReuseFactorScalesTheMemoryAlone(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Workload workload = SmallNet.random(random).on(SmallNet.nodes(2, 1), 1);
    for (Formulas formulas : Formulas.values()) {
      for (Strategy strategy : new Strategy[] {Strategy.DATA, Strategy.FILTER, Strategy.PIPELINE}) {
        Predicted whole = reused(workload, formulas, strategy, 1);
        Predicted half = reused(workload, formulas, strategy, 0.5);
        assertEquals(whole.memory().total() / 2, half.memory().total(), 1e-9);
        assertEquals(whole.iterationSeconds(), half.iterationSeconds());
      }
    }
  }

  private static Predicted reused(
      Workload workload, Formulas formulas, Strategy strategy, double factor) {
    Setting setting =
        new Setting(
            workload,
            1000,
            formulas,
            Exchange.USUAL,
            OptionalInt.empty(),
            OptionalInt.empty(),
            OptionalDouble.of(factor),
            Optional.empty());
    return assertInstanceOf(Predicted.class, new ParadlOracle(setting).predict(strategy, 2, 16));
  }
}
