package dev.pipewright.bench.planners;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.memory.Balance;
import dev.pipewright.planner.memory.Capture;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.memory.Mcap;
import dev.pipewright.planner.memory.McapBruteForce;
import dev.pipewright.planner.memory.McapExact;
import dev.pipewright.planner.memory.ModelledPeaks;
import dev.pipewright.planner.memory.StagePeak;
import dev.pipewright.planner.memory.TieBreak;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;

/**
 * How much larger a network fits when memory is planned first, against plans made for throughput:
 * the question of mCAP and CAPTURE.
 */
public final class MemoryFirst implements Reproduction {
  private static final int[] DEVICES = {4, 8};
  private static final Bytes MEMORY = Bytes.gib(16);
  private static final Bytes PLENTY = Bytes.gib(1L << 20);
  private static final int MOST_LAYERS = 1_000;

  /** Samples of a device's share of a step: those of the zoo's sources, whole for both planners. */
  private record Network(String name, int globalBatch, int microBatch) {}

  private static final List<Network> FIXED =
      List.of(
          new Network("vgg-19", 256, 32),
          new Network("resnet-152", 256, 32),
          new Network("bert-48", 32, 2),
          new Network("gpt-2-xl", 32, 1));

  @Override
  public String name() {
    return "memory-first";
  }

  @Override
  public String summary() {
    return "mCAP and CAPTURE: how much larger networks fit.";
  }

  @Override
  public Report run(Reference reference) {
    return new Report("mCAP and CAPTURE: planning for memory against planning for throughput")
        .paragraph(
            "Peaks by the memory model: weights, gradients, optimizer state and the activations"
                + " that 1F1B has in flight, without recomputation. Throughput first is DAPPLE's"
                + " planner with unlimited memory, and a straight pipeline whose"
                + " slowest stage is as fast as possible, as PipeDream and torchgpipe cut it. mCAP"
                + " cuts a straight pipeline of one device per stage, CAPTURE also shares stages by"
                + " samples or tensors, a micro-batch among all devices of a stage. Micro-batches are"
                + " the same for all, but DAPPLE's planner may run copies of the pipeline, each with"
                + " its own. Published: mCAP trains networks 1.55 times as large as plans for"
                + " throughput do; CAPTURE's plans need up to 43.9 % less. Tensors are divided as"
                + " `train` divides them: the table that GPT's embedding and head share stays whole.")
        .heading("Peak memory of the fullest device, GiB")
        .table(peaks())
        .heading("The largest network that fits devices of 16 GiB")
        .paragraph(
            "By bisection over n; for networks of one size over the samples of a micro-batch."
                + " Ratios are of parameters, or of samples. A step has 16 micro-batches. With one"
                + " stage per device the first stage of VGG holds as many micro-batches of its largest"
                + " activations as there are devices, hence the smaller micro-batch on eight.")
        .table(largest())
        .heading("Exact planning against brute force")
        .paragraph(
            "Random measured peaks, one thread, after a warm-up; the least of three runs. All"
                + " find the same partition.")
        .table(speed());
  }

  private static Markdown peaks() {
    Markdown table =
        new Markdown(
            "network",
            "devices",
            "fastest",
            "straight",
            "mCAP",
            "against straight",
            "CAPTURE",
            "against fastest",
            "its step, × fastest's");
    for (Network network : FIXED) {
      for (int devices : DEVICES) {
        StageCosts costs = costs(network.name, network.globalBatch, devices, PLENTY);
        Candidate fastest = fastest(costs, network);
        double straight = straightPeak(costs, network);
        Planning mcap = mcap(costs, network);
        Planning capture = capture(costs, network);
        double least = capture.value();
        table.row(
            network.name,
            devices,
            gib(fastest.estimate().peakBytes()),
            gib(straight),
            gib(mcap.value()),
            Numbers.percent(mcap.value() / straight - 1),
            gib(least),
            Numbers.percent(least / fastest.estimate().peakBytes() - 1),
            Numbers.fixed(
                capture.candidates().get(0).seconds() / fastest.estimate().stepSeconds(), 2));
      }
    }
    return table;
  }

  private static StageCosts costs(String name, int globalBatch, int devices, Bytes memory) {
    Cluster cluster = Networks.cluster("dapple-a:1x" + devices).withMemory(memory);
    return Networks.zoo(name, cluster, globalBatch);
  }

  /** DAPPLE's planner where memory has no end. */
  private static Candidate fastest(StageCosts costs, Network network) {
    return Networks.plan(costs, request(network)).best().orElseThrow();
  }

  /** One device per stage, the slowest of which is as fast as possible: what its fullest holds. */
  private static double straightPeak(StageCosts costs, Network network) {
    int stages = costs.workload().cluster().size();
    double[] forward = costs.forwardSeconds(network.microBatch);
    double[] backward = costs.backwardSeconds(network.microBatch);
    StagePeak seconds =
        (stage, first, end) ->
            costs.isStage(first, end)
                ? forward[end] - forward[first] + backward[end] - backward[first]
                : Double.POSITIVE_INFINITY;
    int[] sizes = McapExact.of(seconds, costs.size(), stages, TieBreak.NONE).sizes();
    int microBatches = network.globalBatch / network.microBatch;
    StagePeak peaks =
        new ModelledPeaks(costs, PipelinePolicy.A, stages, microBatches, network.microBatch);
    return Arrays.stream(peaks.bytes(sizes)).max().orElseThrow();
  }

  private static Planning mcap(StageCosts costs, Network network) {
    return Mcap.plan(
        costs,
        request(network),
        (peaks, layers, stages) -> McapExact.of(peaks, layers, stages, TieBreak.NEXT_PEAKS));
  }

  private static Planning capture(StageCosts costs, Network network) {
    int devices = costs.workload().cluster().size();
    return Capture.plan(
        costs, request(network), new Capture.Limits(devices, 1, 100_000), () -> false);
  }

  private static Request request(Network network) {
    return new Request(
        network.globalBatch,
        OptionalInt.of(network.microBatch),
        List.of(PipelinePolicy.A),
        Recomputation.NEVER,
        CostModel.PIPEWRIGHT);
  }

  private static Markdown largest() {
    Markdown table =
        new Markdown(
            "network",
            "devices",
            "fastest, made for speed",
            "straight, made for speed",
            "mCAP",
            "× straight",
            "CAPTURE",
            "× fastest");
    for (int devices : DEVICES) {
      row(table, "bert-%d", "layers", 1, devices, 2);
      row(table, "gpt:layers=%d", "layers", 1, devices, 1);
      row(table, "bert:layers=24,heads=16,hidden=%d", "hidden", 64, devices, 2);
      row(table, "gpt:layers=24,heads=16,hidden=%d", "hidden", 64, devices, 1);
      batches(table, "vgg-19", devices);
      batches(table, "resnet-152", devices);
    }
    return table;
  }

  /** The largest multiple of {@code grain} in a network's name with which each planner fits. */
  private static void row(
      Markdown table, String form, String what, int grain, int devices, int microBatch) {
    int[] sizes = new int[4];
    for (int kind = 0; kind < sizes.length; kind++) {
      int planner = kind;
      int least = what.equals("layers") ? Math.max(1, devices - 2) : 1;
      sizes[kind] =
          grain
              * bisected(
                  least,
                  MOST_LAYERS,
                  count -> fits(planner, named(form, count * grain, microBatch), devices));
    }
    double[] parameters = new double[sizes.length];
    for (int kind = 0; kind < sizes.length; kind++) {
      parameters[kind] =
          costs(form.formatted(sizes[kind]), 1, devices, PLENTY)
              .workload()
              .chain()
              .graph()
              .parameters();
    }
    addRow(table, form.replace("%d", "n"), devices, sizes, parameters);
  }

  private static Network named(String form, int size, int microBatch) {
    return new Network(form.formatted(size), 16 * microBatch, microBatch);
  }

  /** Networks of one size: the largest micro-batch instead; 16 of them make a step. */
  private static void batches(Markdown table, String name, int devices) {
    int[] sizes = new int[4];
    double[] as = new double[4];
    for (int kind = 0; kind < sizes.length; kind++) {
      int planner = kind;
      sizes[kind] =
          bisected(
              1,
              4_096,
              samples -> fits(planner, new Network(name, 16 * samples, samples), devices));
      as[kind] = sizes[kind];
    }
    addRow(table, name + ", micro-batch", devices, sizes, as);
  }

  private static void addRow(
      Markdown table, String name, int devices, int[] sizes, double[] parameters) {
    table.row(
        name,
        devices,
        sizes[0],
        sizes[1],
        sizes[2],
        Numbers.fixed(parameters[2] / parameters[1], 2),
        sizes[3],
        Numbers.fixed(parameters[3] / parameters[0], 2));
  }

  /** Whether the plan that one of four planners would take fits the memory. */
  private static boolean fits(int planner, Network network, int devices) {
    StageCosts costs = costs(network.name, network.microBatch, devices, PLENTY);
    double peak =
        switch (planner) {
          case 0 -> fastest(costs, network).estimate().peakBytes();
          case 1 -> straightPeak(costs, network);
          case 2 -> mcap(costs, network).value();
          default ->
              Capture.plan(
                      costs, request(network), new Capture.Limits(devices, 1, 100_000), () -> true)
                  .lowerBound()
                  .value();
        };
    return peak <= MEMORY.value();
  }

  /** The largest that holds, between one that does and one that does not. */
  private static int bisected(int least, int most, IntPredicate holds) {
    int low = least;
    int high = most;
    while (high - low > 1) {
      int middle = (low + high) / 2;
      if (holds.test(middle)) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private static Markdown speed() {
    Markdown table =
        new Markdown(
            "devices", "layers", "partitions", "brute force, s", "exact, ms", "with ties, ms");
    for (int[] size : new int[][] {{4, 30}, {8, 24}, {8, 40}, {8, 48}}) {
      LayerPeaks peaks = random(size[1]);
      int devices = size[0];
      List<Balance> found = new ArrayList<>();
      double brute =
          seconds(1, () -> found.add(McapBruteForce.of(peaks, size[1], devices, () -> false)));
      double exact =
          seconds(2_000, () -> found.add(McapExact.of(peaks, size[1], devices, TieBreak.NONE)));
      double tied =
          seconds(200, () -> found.add(McapExact.of(peaks, size[1], devices, TieBreak.NEXT_PEAKS)));
      for (Balance one : found) {
        if (one.peakBytes() != found.get(0).peakBytes()) {
          throw new IllegalStateException(one + " is not " + found.get(0));
        }
      }
      table.row(
          devices,
          size[1],
          found.get(0).considered(),
          Numbers.fixed(brute, 4),
          Numbers.fixed(exact * 1e3, 4),
          Numbers.fixed(tied * 1e3, 4));
    }
    return table;
  }

  /** The least of three means, after one that does not count. */
  private static double seconds(int times, Runnable work) {
    double least = Double.POSITIVE_INFINITY;
    for (int run = 0; run < 4; run++) {
      long start = System.nanoTime();
      for (int i = 0; i < times; i++) {
        work.run();
      }
      double mean = (System.nanoTime() - start) / 1e9 / times;
      least = run == 0 ? least : Math.min(least, mean);
    }
    return least;
  }

  private static LayerPeaks random(int layers) {
    var random = new SplittableRandom(layers);
    return new LayerPeaks(
        random.doubles(layers, 0.7e9, 1.8e9).map(Math::rint).toArray(),
        random.doubles(layers, 0.1e9, 1.1e9).map(Math::rint).toArray());
  }

  private static String gib(double bytes) {
    return Numbers.fixed(bytes / (1L << 30), 2);
  }
}
