package dev.pipewright.server.whatif;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.planner.ClusterSizes;
import dev.pipewright.server.study.KeptPlan;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.DoubleFunction;
import java.util.function.UnaryOperator;

/** What can be moved for a study: the positions of each slider, and where they are. */
public final class Sliders {
  static final String DEVICES = "devices";
  static final String MEMORY = "memory";
  static final String BANDWIDTH = "bandwidth";
  static final String LATENCY = "latency";
  static final String MICRO_BATCHES = "microbatches";
  static final String STRAGGLER = "straggler";
  static final String PRICE = "price";

  private static final double[] MEMORIES = {0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 4};
  private static final double[] BANDWIDTHS = {0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 4, 8};
  private static final double[] LATENCIES = {0.1, 0.25, 0.5, 1, 2, 5, 10, 50, 100};
  private static final double[] STRAGGLERS = {1, 1.05, 1.1, 1.2, 1.35, 1.5, 2, 3};
  private static final double[] PRICES = {0, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20};

  private final List<Slider> all;
  private final Map<String, Integer> positions = new LinkedHashMap<>();

  private Sliders(List<Slider> all, UnaryOperator<String> sent) {
    this.all = List.copyOf(all);
    all.forEach(slider -> positions.put(slider.name(), slider.position(sent.apply(slider.name()))));
  }

  /**
   * Those of a study.
   *
   * @param cluster that it is for
   * @param sent the position of a slider by its name, as it was sent; empty where it was not
   */
  static Sliders of(KeptPlan kept, Cluster cluster, UnaryOperator<String> sent) {
    return new Sliders(
        List.of(
            devices(cluster),
            times(MEMORY, "Memory of a device", MEMORIES),
            times(
                BANDWIDTH,
                cluster.machines() > 1 ? "Bandwidth between machines" : "Bandwidth",
                BANDWIDTHS),
            times(LATENCY, "Latency of links", LATENCIES),
            microBatches(kept.plan().globalBatch()),
            slider(
                STRAGGLER,
                "Straggler takes",
                STRAGGLERS,
                1,
                times -> times == 1 ? "no longer" : times(times) + " as long"),
            slider(
                PRICE,
                "Price of a device-hour",
                PRICES,
                0,
                price -> price == 0 ? "none" : Units.plain(price))),
        sent);
  }

  /** Parts of the cluster, and where it has several machines up to twice as many. */
  private static Slider devices(Cluster cluster) {
    TreeSet<Integer> sizes = new TreeSet<>(ClusterSizes.some(cluster));
    if (cluster.machines() > 1) {
      int machine = cluster.groups().get(0).get(cluster.machines() - 1);
      sizes.add(cluster.size() + machine * Math.max(1, cluster.machines() / 2));
      sizes.add(cluster.size() + machine * cluster.machines());
    }
    double[] values = sizes.stream().mapToDouble(Integer::doubleValue).toArray();
    return slider(DEVICES, "Devices", values, cluster.size(), Units::plain);
  }

  /** Whatever is best, or a divisor of the batch. */
  private static Slider microBatches(long batch) {
    List<Double> values = new ArrayList<>(List.of(0.0));
    for (long count = 1; count <= batch; count++) {
      if (batch % count == 0) {
        values.add((double) count);
      }
    }
    return slider(
        MICRO_BATCHES,
        "Micro-batches of a step",
        values.stream().mapToDouble(Double::doubleValue).toArray(),
        0,
        count -> count == 0 ? "best" : Units.plain(count));
  }

  private static Slider times(String name, String label, double[] factors) {
    return slider(name, label, factors, 1, times -> times == 1 ? "as it is" : times(times));
  }

  private static String times(double factor) {
    return Units.plain(factor) + " ×";
  }

  private static Slider slider(
      String name, String label, double[] values, double usual, DoubleFunction<String> words) {
    List<Double> all = new ArrayList<>();
    List<String> called = new ArrayList<>();
    for (double value : values) {
      all.add(value);
      called.add(words.apply(value));
    }
    return new Slider(name, label, called, all, Math.max(0, all.indexOf(usual)));
  }

  /** In the order of the page. */
  public List<Slider> all() {
    return all;
  }

  /** Where a slider is. */
  public int position(Slider slider) {
    return positions.getOrDefault(slider.name(), slider.usual());
  }

  /** What a slider's position is called. */
  public String word(Slider slider) {
    return slider.words().get(position(slider));
  }

  /** What the position of a slider stands for. */
  double value(String name) {
    Slider slider = all.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    return slider.value(position(slider));
  }
}
