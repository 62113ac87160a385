package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cluster.Software;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Small random networks, profiles and clusters: skewed, so that cuts, placements and memory matter.
 * Layers take about a second, links carry about a megabyte per second.
 */
public final class Samples {
  private Samples() {}

  /** Between 0 and {@code most}, mostly small. */
  public static double skewed(SplittableRandom random, double most) {
    return most * Math.pow(random.nextDouble(), 3);
  }

  public static DeviceKind kind(String name, long memory, double peak) {
    return new DeviceKind(
        name,
        new Bytes(memory),
        new FlopsPerSecond(peak),
        new FlopsPerSecond(4 * peak),
        new BytesPerSecond(1e9));
  }

  public static LayerGraph chain(int layers) {
    return LayerGraph.chain("chain", layers(layers));
  }

  private static List<Layer> layers(int count) {
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      var operator = new Operator.Recorded("layer");
      layers.add(new Layer("layer" + i, operator, Optional.empty(), 0, 0, 0, Work.NONE));
    }
    return layers;
  }

  /** Layers side by side between a first and a last one, some of them joined. */
  public static LayerGraph branching(SplittableRandom random) {
    int between = random.nextInt(2, 5);
    List<Edge> edges = new ArrayList<>();
    for (int i = 1; i <= between; i++) {
      boolean starts = true;
      for (int j = 1; j < i; j++) {
        if (random.nextInt(3) == 0) {
          edges.add(new Edge(j, i));
          starts = false;
        }
      }
      if (starts) {
        edges.add(new Edge(0, i));
      }
      edges.add(new Edge(i, between + 1));
    }
    return new LayerGraph("branching", layers(between + 2), edges);
  }

  /** Levels in the usual order, inner faster than outer, or in any. */
  public static List<Level> levels(SplittableRandom random, int count) {
    List<Level> levels = new ArrayList<>();
    boolean usual = random.nextInt(3) > 0;
    for (int level = 0; level < count; level++) {
      double scale = usual ? Math.pow(4, -level) : Math.pow(4, -random.nextInt(3));
      double slow = random.nextInt(4) == 0 ? 0 : skewed(random, 0.3) / scale;
      levels.add(new Level("level" + level, link(random, slow, scale), link(random, slow, scale)));
    }
    return levels;
  }

  private static Link link(SplittableRandom random, double latency, double scale) {
    return Link.of(latency * random.nextDouble(), scale * random.nextDouble(1e6, 1e7));
  }

  /** At most four devices; one in three has devices of two kinds, somehow mixed. */
  public static Cluster cluster(SplittableRandom random, long memory) {
    int[][] shapes = {{4, 1}, {2, 2}, {1, 4}, {1, 3}, {1, 2}, {1, 2, 2}, {2, 1, 2}, {3, 1}};
    int[] shape = shapes[random.nextInt(shapes.length)];
    Cluster equal =
        Cluster.uniform("small", kind("k", memory, 1e12), levels(random, shape.length), shape);
    return random.nextInt(3) > 0 ? equal : mixed(random, equal, memory);
  }

  /** The same cluster with devices of two kinds: machine by machine or device by device. */
  public static Cluster mixed(SplittableRandom random, Cluster cluster, long memory) {
    DeviceKind other =
        kind(
            "other",
            (long) (memory * random.nextDouble(0.5, 2)),
            1e12 * random.nextDouble(0.4, 2.5));
    boolean whole = random.nextBoolean();
    List<DeviceKind> kinds = new ArrayList<>();
    for (int device = 0; device < cluster.size(); device++) {
      boolean same = whole && device > 0 && cluster.machine(device) == cluster.machine(device - 1);
      boolean first = random.nextBoolean();
      kinds.add(same ? kinds.get(device - 1) : first ? cluster.device(device) : other);
    }
    return new Cluster("mixed", kinds, cluster.levels(), cluster.groups());
  }

  /** Random times for one to three slice sizes, and random sizes. */
  public static Profile profile(SplittableRandom random, int layers) {
    List<LayerSizes> sizes = new ArrayList<>();
    double[] fixed = new double[layers];
    double[] perSample = new double[layers];
    boolean large = random.nextBoolean();
    for (int i = 0; i < layers; i++) {
      double output = skewed(random, 2e6);
      sizes.add(
          new LayerSizes(
              output,
              skewed(random, 1e7) + (random.nextBoolean() ? output : 0),
              skewed(random, large ? 4e7 : 2e6)));
      fixed[i] = random.nextBoolean() ? 0 : skewed(random, 1);
      perSample[i] = skewed(random, 1);
    }
    List<Integer> samples = new ArrayList<>();
    List<List<LayerTimes>> times = new ArrayList<>();
    for (int batch = random.nextInt(1, 4); samples.size() < 1 + random.nextInt(3); batch *= 2) {
      samples.add(batch);
      List<LayerTimes> table = new ArrayList<>();
      for (int i = 0; i < layers; i++) {
        double forward = (fixed[i] + perSample[i] * batch) * random.nextDouble(0.7, 1.3);
        double backward = forward * random.nextDouble(0.5, 3);
        double update = i % 2 == 0 ? sizes.get(i).parameters() * 1e-8 : 0;
        table.add(new LayerTimes(forward, backward, Double.NaN, update));
      }
      times.add(table);
    }
    var source = new Provenance("random", random.nextBoolean() ? "other" : "k", "", false);
    return new Profile(source, Precision.FP32, sizes, samples, times);
  }

  /** Costs of a random network on a random small cluster. */
  public static StageCosts costs(SplittableRandom random, LayerGraph graph, int globalBatch) {
    Profile profile = profile(random, graph.size());
    Training training = new Training(Optimizer.SGD, Precision.FP32);
    Chain chain = Chain.of(graph);
    long memory = memory(random, profile, globalBatch);
    Cluster cluster = cluster(random, memory).withSoftware(software(random));
    return new StageCosts(new Workload(chain, profile, training, cluster));
  }

  /** In one of three cases messages take something from computing. */
  private static Software software(SplittableRandom random) {
    MessageOverhead overhead = new MessageOverhead(skewed(random, 0.1), skewed(random, 1e-7));
    return random.nextInt(3) > 0 ? Software.IDEAL : Software.IDEAL.withMessage(overhead);
  }

  /** Everything, or some share of what the whole network needs. */
  private static long memory(SplittableRandom random, Profile profile, int globalBatch) {
    if (random.nextInt(3) == 0) {
      return Long.MAX_VALUE / 4;
    }
    double parameters = sum(profile.parameterBytes());
    double kept = sum(profile.keptBytes());
    double held = globalBatch * kept * Samples.skewed(random, 1);
    return 1 + (long) (2 * parameters * random.nextDouble(0.3, 1) + held);
  }

  public static double sum(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum;
  }

  /** A cluster of equal devices on levels with the given links for both uses. */
  public static Cluster plain(List<Link> links, int... fanouts) {
    List<Level> levels = new ArrayList<>();
    for (Link link : links) {
      levels.add(new Level("level" + levels.size(), link, link));
    }
    return Cluster.uniform("plain", kind("k", 1L << 40, 1e12), levels, fanouts);
  }

  /** A cluster whose machines have the given sizes, in racks of the given numbers of machines. */
  public static Cluster racks(List<Level> levels, int[] machines, int[] racks) {
    List<Integer> sizes = new ArrayList<>();
    int devices = 0;
    for (int machine : machines) {
      sizes.add(machine);
      devices += machine;
    }
    List<Integer> rackSizes = new ArrayList<>();
    int next = 0;
    for (int rack : racks) {
      int size = 0;
      for (int i = 0; i < rack; i++) {
        size += machines[next++];
      }
      rackSizes.add(size);
    }
    List<List<Integer>> groups = List.of(sizes, rackSizes, List.of(devices));
    var kinds = Collections.nCopies(devices, kind("k", 1L << 40, 1e12));
    return new Cluster("racks", kinds, levels, groups);
  }
}
