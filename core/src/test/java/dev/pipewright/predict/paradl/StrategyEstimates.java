package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.Workload;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting.Exchange;
import dev.pipewright.predict.paradl.Setting.Formulas;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/** Estimates of strategies for small networks, and how they are compared. */
final class StrategyEstimates {
  private StrategyEstimates() {}

  static Setting setting(Workload workload, int group, Exchange exchange) {
    return new Setting(
        workload,
        1000,
        Formulas.CORRECTED,
        exchange,
        group == 0 ? OptionalInt.empty() : OptionalInt.of(group),
        OptionalInt.empty(),
        OptionalDouble.empty(),
        Optional.empty());
  }

  static Predicted predicted(Setting setting, Strategy strategy, int devices, long batch) {
    return assertInstanceOf(
        Predicted.class, new ParadlOracle(setting).predict(strategy, devices, batch));
  }

  static Predicted predicted(Workload workload, Strategy strategy, int devices) {
    return predicted(setting(workload, 0, Exchange.USUAL), strategy, devices, 24);
  }

  static void same(Predicted expected, Predicted actual) {
    for (Phase phase : Phase.values()) {
      near(expected.phases().seconds(phase), actual.phases().seconds(phase));
    }
    near(expected.memory().total(), actual.memory().total());
  }

  static void near(double expected, double actual) {
    assertEquals(expected, actual, 1e-12 * Math.abs(expected));
  }

  /** Seconds in which what has been gathered or summed is read and written. */
  static double copied(Workload workload, double bytes) {
    return 2 * bytes / (0.7 * workload.cluster().device(0).memoryBandwidth().value());
  }

  static StrategyFormulas formulas(Workload workload, Formulas which) {
    ParadlNetwork network = new ParadlNetwork(workload, Optional.empty());
    Setting setting = setting(workload, 0, Exchange.USUAL);
    return which == Formulas.PUBLISHED
        ? new PublishedFormulas(network, setting)
        : new PlanEstimate(network, setting);
  }

  /** Links without latency tell the bytes by the seconds. */
  static Cluster bytesPerSecond(int devices) {
    Link link = Link.of(0, 1);
    List<Level> levels = List.of(new Level("node", link, link));
    return Cluster.uniform("slow", Samples.kind("k", 1L << 40, 1e13), levels, devices)
        .withSoftware(SmallNet.WITHOUT_OVERLAP);
  }
}
