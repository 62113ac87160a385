package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Workload;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Study.Crossover;
import dev.pipewright.predict.paradl.Study.Sensitivity;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Rankings, crossovers and sensitivities against questions asked one by one. */
class StudiesTest {
  /** A choice may be a hundredth slower than the fastest where it is simpler. */
  private static final double CLOSE = 1.01;

  private static final List<Strategy> ALL = List.of(Strategy.values());
  private static final List<Integer> DEVICES = List.of(1, 2, 4, 8, 16);

  /** Large connected layers, small maps, tight memory: so that the best strategy changes. */
  private static SmallNet random(SplittableRandom random) {
    return SmallNet.input(3, 16, 16)
        .convolution(random.nextInt(8, 40), 3, 1, 1)
        .relu()
        .convolution(random.nextInt(8, 40), 5, 1, 2)
        .pooling(2, 2)
        .connected(random.nextInt(16, 4000))
        .connected(random.nextInt(16, 400));
  }

  /** What a question costs on the machine as it is. */
  private record Case(SmallNet net, long seed, Cluster cluster, BatchScaling batch) {
    static Case of(int seed) {
      SplittableRandom random = new SplittableRandom(seed);
      SmallNet net = StudiesTest.random(random);
      long memory = (long) (1e5 * Math.pow(10, 4 * random.nextDouble()));
      Cluster cluster =
          SmallNet.nodes(4, random.nextInt(1, 3), 1, Math.pow(10, -3 * random.nextDouble()));
      BatchScaling batch =
          random.nextBoolean()
              ? BatchScaling.perDevice(random.nextInt(1, 33))
              : BatchScaling.global(random.nextInt(16, 129));
      return new Case(net, random.nextLong(), cluster.withMemory(new Bytes(memory)), batch);
    }

    Setting setting(Workload workload) {
      return Setting.of(workload, 10_000);
    }

    Workload workload() {
      return net.on(cluster, seed);
    }

    Study study() {
      return Studies.of(setting(workload()), ALL, DEVICES, batch);
    }

    /** Among those that fit, the first strategy that is nearly as fast as the fastest. */
    Optional<Predicted> choice(Workload workload, int devices) {
      List<Predicted> fitting = new ArrayList<>();
      double fastest = 0;
      for (Strategy strategy : ALL) {
        ParadlOracle oracle = new ParadlOracle(setting(workload));
        Prediction prediction = oracle.predict(strategy, devices, batch.on(devices));
        if (prediction instanceof Predicted predicted && predicted.fits()) {
          fitting.add(predicted);
          fastest = Math.max(fastest, predicted.samplesPerSecond());
        }
      }
      for (Predicted predicted : fitting) {
        if (predicted.samplesPerSecond() * CLOSE >= fastest) {
          return Optional.of(predicted);
        }
      }
      return Optional.empty();
    }
  }

  @RepeatedTest(value = 30, name = SmallNet.SEEDED)
  void theRankingHasEverythingThatFitsTheFastestFirst(RepetitionInfo seed) {
    Case asked = Case.of(seed.getCurrentRepetition());
    Study study = asked.study();
    assertEquals(ALL.size() * DEVICES.size(), study.predictions().size());
    for (int devices : DEVICES) {
      List<Predicted> ranking = study.ranking(devices);
      double before = Double.POSITIVE_INFINITY;
      for (Predicted predicted : ranking) {
        assertTrue(predicted.fits() && predicted.samplesPerSecond() <= before);
        before = predicted.samplesPerSecond();
      }
      long fitting =
          ALL.stream()
              .map(strategy -> study.at(strategy, devices).orElseThrow())
              .filter(p -> p instanceof Predicted predicted && predicted.fits())
              .count();
      assertEquals(fitting, ranking.size());
      assertEquals(
          asked.choice(asked.workload(), devices).map(Predicted::strategy),
          study.choice(devices).map(Predicted::strategy));
      for (Predicted faster : ranking) {
        double rate = study.choice(devices).orElseThrow().samplesPerSecond();
        assertTrue(faster.samplesPerSecond() <= rate * CLOSE * (1 + 1e-12));
      }
    }
  }

  @RepeatedTest(value = 60, name = SmallNet.SEEDED)
  void aCrossoverIsWhereTheBestChanges(RepetitionInfo seed) {
    Study study = Case.of(seed.getCurrentRepetition()).study();
    List<Crossover> expected = new ArrayList<>();
    Optional<Strategy> before = Optional.empty();
    for (int devices : DEVICES) {
      List<Predicted> ranking = study.ranking(devices);
      Optional<Predicted> choice = study.choice(devices);
      Optional<Strategy> best = choice.map(Predicted::strategy);
      if (best.isPresent() && !best.equals(before)) {
        double gain = 1;
        for (Predicted predicted : ranking) {
          if (before.equals(Optional.of(predicted.strategy()))) {
            gain = choice.orElseThrow().samplesPerSecond() / predicted.samplesPerSecond();
          }
        }
        expected.add(new Crossover(devices, before, best.get(), gain));
      }
      before = best;
    }
    assertEquals(expected, study.crossovers());
  }

  /** The altered machine is built from its numbers again, and asked for each strategy. */
  @RepeatedTest(value = 30, name = SmallNet.SEEDED)
  void aSensitivityIsTheBestOnTheAlteredMachine(RepetitionInfo seed) {
    Case asked = Case.of(seed.getCurrentRepetition());
    int most = DEVICES.get(DEVICES.size() - 1);
    Optional<Strategy> usual = asked.choice(asked.workload(), most).map(Predicted::strategy);
    List<Sensitivity> sensitivities = asked.study().sensitivities();
    assertEquals(8, sensitivities.size());
    for (Sensitivity sensitivity : sensitivities) {
      Workload altered = altered(asked, sensitivity);
      Optional<Predicted> best = asked.choice(altered, most);
      assertEquals(best.map(Predicted::strategy), sensitivity.choice(), sensitivity.toString());
      double rate = best.map(Predicted::samplesPerSecond).orElse(0.0);
      assertEquals(rate, sensitivity.samplesPerSecond(), 1e-9 * rate);
      assertEquals(!usual.equals(sensitivity.choice()), sensitivity.changes());
    }
  }

  private static Workload altered(Case asked, Sensitivity sensitivity) {
    double factor = sensitivity.factor();
    Cluster usual = asked.cluster();
    double ports = usual.levels().get(1).ports();
    double width = usual.levels().get(0).collective().bandwidth().value() / 4e10;
    Bytes memory = usual.device(0).memory();
    return switch (sensitivity.resource()) {
      case BANDWIDTH ->
          asked
              .net()
              .on(SmallNet.nodes(4, ports, 1, width * factor).withMemory(memory), asked.seed());
      case LATENCY ->
          asked.net().on(SmallNet.nodes(4, ports, factor, width).withMemory(memory), asked.seed());
      case MEMORY ->
          asked.net().on(usual.withMemory(Bytes.of(memory.value() * factor)), asked.seed());
      case COMPUTE -> {
        Workload workload = asked.workload();
        yield new Workload(
            workload.chain(), workload.profile().slower(1 / factor), workload.training(), usual);
      }
    };
  }

  /** So that the tests above do not pass on studies in which nothing happens. */
  @Test
  void theCasesHaveCrossoversAndChoicesThatChange() {
    int crossovers = 0;
    int changes = 0;
    for (int seed = 1; seed <= 30; seed++) {
      Study study = Case.of(seed).study();
      crossovers += Math.max(0, study.crossovers().size() - 1);
      changes += (int) study.sensitivities().stream().filter(Sensitivity::changes).count();
    }
    assertTrue(crossovers >= 10, "crossovers: " + crossovers);
    assertTrue(changes >= 5, "changes: " + changes);
  }

  @Test
  void whereNothingFitsThereIsNoChoice() {
    Workload workload =
        random(new SplittableRandom(1)).on(SmallNet.nodes(1, 1).withMemory(new Bytes(10)), 1);
    Study study =
        Studies.of(Setting.of(workload, 1000), ALL, List.of(1, 2, 4), BatchScaling.perDevice(8));
    assertEquals(List.of(), study.ranking(4));
    assertEquals(List.of(), study.crossovers());
    for (Sensitivity sensitivity : study.sensitivities()) {
      assertEquals(Optional.empty(), sensitivity.choice());
      assertEquals(0, sensitivity.samplesPerSecond());
      assertTrue(!sensitivity.changes());
    }
  }
}
