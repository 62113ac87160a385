package dev.pipewright.bench.fuzz;

import dev.pipewright.app.cli.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Files that are right, most of them answers of Pipewright itself, and what is asked about them.
 */
final class Seeds {
  private static final String GRAPH =
      """
      node1 -- layer_0 -- forward_compute_time=2, backward_compute_time=4, activation_size=1000000, parameter_size=4000000
      node2 -- layer_1 -- forward_compute_time=3, backward_compute_time=5, activation_size=[1000000; 24], parameter_size=8000000 -- stage_id=1
      node3 -- layer_2 -- forward_compute_time=0, backward_compute_time=0, activation_size=1000000, parameter_size=0
      node4 -- layer_3 -- forward_compute_time=2.5, backward_compute_time=4e0, activation_size=2e5, parameter_size=8000000
      	node1 -- node2
      	node2 -- node3
      	node3 -- node4
      	node1 -- node4
      """;
  private static final String PROFILE =
      """
      {
        "format": "pipewright-profile", "version": 1, "model": "two-layers",
        "provenance": {"source": "profile", "device": "V100", "date": "2025-01-31", "measured": true},
        "precision": "fp32",
        "training": {"optimizer": "adam", "precision": "fp32"},
        "layers": [
          {
            "name": "dense", "operator": {"kind": "linear", "in": 2, "out": 3, "bias": true},
            "output_shape": [3], "parameters": 9, "output_elements": 3, "kept_elements": 3,
            "work": {"forward_flop": 12, "input_gradient_flop": 12, "weight_gradient_flop": 12, "forward_elements": 5},
            "output_bytes": 12, "kept_bytes": 12, "parameter_bytes": 36
          },
          {
            "name": "relu", "operator": {"kind": "elementwise", "function": "relu"},
            "parameters": 0, "output_elements": 3, "kept_elements": 3,
            "output_bytes": 12, "kept_bytes": 12, "parameter_bytes": 0
          },
          {
            "name": "scores", "operator": {"kind": "linear", "in": 3, "out": 2, "bias": false},
            "output_shape": [2], "parameters": 6, "output_elements": 2, "kept_elements": 2,
            "output_bytes": 8, "kept_bytes": 8, "parameter_bytes": 24
          }
        ],
        "edges": [["dense", "relu"], ["relu", "scores"]],
        "batches": [
          {
            "samples": 4,
            "forward_s": [1e-3, 1e-4, 1e-3], "backward_s": [2e-3, 1e-4, 2e-3],
            "input_gradient_s": [1.1e-3, 1e-4, 1e-3], "weight_gradient_s": [1.1e-3, 0, 1e-3],
            "update_s": [1e-5, 0, 1e-5],
            "forward_working_bytes": [900, 768, 8], "backward_working_bytes": [1500, 768, 8],
            "split_kept_bytes": [768, 384, 4], "deferred_bytes": [384, 0, 4]
          },
          {
            "samples": 8,
            "forward_s": [2e-3, 2e-4, 2e-3], "backward_s": [4e-3, 2e-4, 4e-3],
            "input_gradient_s": [2e-3, 2e-4, 2e-3], "weight_gradient_s": [2e-3, 0, 2e-3],
            "update_s": [1e-5, 0, 1e-5],
            "working_bytes": [900, 768, 8], "split_kept_bytes": [768, 384, 4], "deferred_bytes": [384, 0, 4]
          }
        ]
      }
      """;
  private static final String CLUSTER =
      """
      format: pipewright-cluster
      version: 1
      name: small
      kinds:
        - {name: tiny, memory_bytes: 1e9, fp32_flops: 1e13, mixed_flops: 4e13, memory_bytes_per_s: 5e11}
      levels:
        - name: node
          point_to_point: {latency_s: 1e-5, bytes_per_s: 2e10}
          collective: {latency_s: 1e-5, bytes_per_s: 5e10, small: [{up_to_bytes: 4096, latency_s: 2e-5, bytes_per_s: 1e9}]}
          groups: 2
        - name: cluster
          point_to_point: {latency_s: 5e-5, bytes_per_s: 1e9}
          collective: {latency_s: 5e-5, bytes_per_s: 3e9}
          ports: 1.5
          achieved: 0.9
          groups: [4]
      devices:
        - {kind: tiny, count: 4}
      software: {waiting_share: 0.1, overlap: 0.5, message_overhead: {per_message_s: 1e-5, per_byte_s: 1e-10}}
      """;
  private static final String CLUSTER_JSON =
      """
      {"format": "pipewright-cluster", "version": 1, "name": "small",
       "kinds": [{"name": "tiny", "memory_bytes": 1e9, "fp32_flops": 1e13, "mixed_flops": 4e13, "memory_bytes_per_s": 5e11}],
       "levels": [{"name": "all", "point_to_point": {"latency_s": 1e-5, "bytes_per_s": 2e10},
                   "collective": {"latency_s": 1e-5, "bytes_per_s": 5e10}, "groups": [4]}],
       "devices": [{"kind": "tiny", "count": 4}]}
      """;

  private static final String NET =
      """
      Dataset|Digits
      Input|60000x1x12x10
      Model|LeNet
      CONV|1x12x10|1x4x3x3|4x12x10|0.25
      BNORM|4x12x10|4x4x0x0|4x12x10|0
      RELU|4x12x10|4x4x0x0|4x12x10|0
      MPOOL|4x12x10|0x0x2x2|4x6x5|0
      FC|4x6x5|4x10x6x5|10x1x1|0.1
      """;
  private static final String PLATFORM =
      """
      MEM_PER_NODE|16e9|Bytes
      NODE_SPEED|7.8E12|FLOPS
      BANDWIDTH|12.5E9|Bps
      LATENCY|500E-9|second
      MAX_NODE|64|GPUs
      GPU_PER_NODE|4|GPUs
      """;
  private static final String SWITCHES =
      """
      CONV|1
      BNORM|0
      RELU|1
      MPOOL|1
      FC|1
      """;
  private static final String PEAKS =
      "name,alone,added\na,5e3,0\nb,4096,700\nc,4096,-7\nd,100,90\ne,100,90\n";
  private static final String CURVE = "time,bytes\n0,1\n0.5,20\n1.5,7\n2,1\n";
  private static final String PLACEMENT =
      """
      {"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 10,
       "nodes": [
         {"id": 0, "supportedOnFpga": 1, "cpuLatency": 5, "fpgaLatency": 1, "isBackwardNode": 0, "size": 3},
         {"id": 1, "supportedOnFpga": 1, "cpuLatency": 5, "fpgaLatency": 1.5, "isBackwardNode": 0, "size": 3},
         {"id": 2, "supportedOnFpga": 0, "cpuLatency": 2, "fpgaLatency": 1, "isBackwardNode": 1, "colorClass": 4}],
       "edges": [{"sourceId": 0, "destId": 1, "cost": 0.5}, {"sourceId": 1, "destId": 2, "cost": 0.25}]}
      """;
  private static final String TIMINGS =
      """
      # nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
      #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
      #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
              1024           256     float     sum      -1    20.42    0.05    0.09      0    20.08    0.05    0.09      0
            131072         32768     float     sum      -1    45.10    2.91    5.09      0    44.95    2.92    5.10      0
           4194304       1048576     float     sum      -1    93.11   45.05   78.83      0    92.80   45.20   79.10      0
         134217728      33554432     float     sum      -1   1102.3  121.77  213.09      0   1100.1  122.01  213.51      0
      """;

  private final Path folder;
  private final Map<String, Path> files = new TreeMap<>(); // by the word that stands for it
  private final List<Target> targets = new ArrayList<>();

  Seeds(Path folder) {
    this.folder = folder;
    write("GRAPH", "graph.txt", GRAPH);
    write("PROFILE", "profile.json", PROFILE);
    write("CLUSTER", "cluster.yaml", CLUSTER);
    write("NET", "lenet.net", NET);
    write("CURVE", "curve.csv", CURVE);
    write("PEAKS", "peaks.csv", PEAKS);
    models();
    clusters();
    plans();
    schedules();
  }

  List<Target> targets() {
    return targets;
  }

  /** The words of a line, those in capitals replaced by the files that they stand for. */
  List<String> filled(String line) {
    List<String> words = new ArrayList<>();
    for (String word : line.split(" ", -1)) {
      words.add(files.containsKey(word) ? files.get(word).toString() : word);
    }
    return words;
  }

  private void models() {
    List<String> planned =
        List.of(
            "plan @ --cluster CLUSTER --global-batch 8 --profile-batch 2",
            "plan @ --cluster CLUSTER --global-batch 8 --profile-batch 2 --planner gpipe --json",
            "plan @ --cluster CLUSTER --global-batch 8 --profile-batch 2 --planner capture",
            "plan @ --cluster CLUSTER --global-batch 8 --profile-batch 2 --planner pipedream-2bw",
            "plan @ --cluster CLUSTER --global-batch 8 --profile-batch 2 --planner madpipe",
            "plan @ --cluster CLUSTER --global-batch 8 --profile-batch 2 --objective throughput",
            "plan @ --planner pipedream --levels 4 --bandwidths 10e9 --profile-batch 2",
            "predict @ --cluster CLUSTER --profile-batch 2 --devices 1,2,4 --batch-per-device 4",
            "predict @ --cluster CLUSTER --profile-batch 2 --devices 4 --formulas published --json");
    target("graph", "graph.txt", GRAPH, planned);
    target("profile", "profile.json", PROFILE, planned);
    target(
        "network",
        "net.net",
        NET,
        List.of(
            "predict @ --cluster CLUSTER --devices 1,2,4 --batch-per-device 4",
            "plan @ --cluster CLUSTER --global-batch 8"));
    target(
        "peaks",
        "peaks.csv",
        PEAKS,
        List.of("plan @ --cluster CLUSTER --planner mcap --global-batch 8"));
    target(
        "placement",
        "placement.json",
        PLACEMENT,
        List.of("plan @ --planner placement", "plan @ --planner placement --json"));
    target(
        "switches",
        "lenet.lc",
        SWITCHES,
        List.of("predict NET --cluster CLUSTER --devices 2 --strategies filter --split-layers @"));
  }

  private void clusters() {
    List<String> used =
        List.of(
            "plan GRAPH --cluster @ --global-batch 8 --profile-batch 2",
            "plan GRAPH --cluster @ --global-batch 8 --profile-batch 2 --planner pipedream",
            "plan GRAPH --cluster @ --global-batch 8 --profile-batch 2 --planner madpipe",
            "predict GRAPH --cluster @ --profile-batch 2 --devices 1,2 --batch-per-device 4 --json",
            "predict NET --cluster @ --devices 1,2 --batch-per-device 4");
    target("cluster", "cluster.yaml", CLUSTER, used);
    target("cluster in JSON", "cluster.json", CLUSTER_JSON, used);
    target("platform", "abci.plat", PLATFORM, used);
    target(
        "timings",
        "timings.txt",
        TIMINGS,
        List.of(
            "calibrate @ --cluster CLUSTER --level node --devices 2",
            "calibrate @ --cluster CLUSTER --level cluster --json"));
    target(
        "memory curve",
        "curve.csv",
        CURVE,
        List.of("cyclic-memory @ --workers 2,4", "cyclic-memory @ --workers 3 --json"));
  }

  private void plans() {
    List<String> used =
        List.of("check @", "simulate @", "simulate @ --json", "check @ --json --memory 1e8");
    String common = "plan GRAPH --cluster CLUSTER --global-batch 8 --profile-batch 2 --json";
    target("plan", "plan.json", answer(common + " --planner gpipe"), used);
    target("hybrid plan", "plan.json", answer(common + " --planner capture"), used);
    target("asynchronous plan", "plan.json", answer(common + " --planner pipedream-2bw"), used);
    target("periodic plan", "plan.json", answer(common + " --planner madpipe"), used);
    write("PLAN", "plan.json", answer(common + " --planner gpipe"));
    write("PLACEMENT", "placement.json", PLACEMENT);
    target("placed plan", "plan.json", answer("plan PLACEMENT --planner placement --json"), used);
  }

  private void schedules() {
    List<String> used = List.of("check @", "check @ --json", "check @ --memory-cap 3");
    for (String name : List.of("zb-h1", "dualpipe", "pipedream")) {
      String line = "schedule " + name + " --stages 2 --micro-batches 4 --json";
      target(name + " schedule", "schedule.json", answer(line), used);
    }
    Path csv = folder.resolve("made.csv");
    Path transfers = folder.resolve("transfers.csv");
    answer(
        "schedule interleaved --stages 2 --micro-batches 4 --csv %s --csv-transfers %s"
            .formatted(csv, transfers));
    target("schedule table", "schedule.csv", text(csv), used);
    target("schedule with transfers", "schedule.csv", text(transfers), used);
  }

  private void target(String name, String file, String seed, List<String> commands) {
    boolean line = !file.equals("plan.json"); // what does not fit a plan may be the whole of it
    targets.add(new Target(name, file, seed.getBytes(StandardCharsets.UTF_8), line, commands));
  }

  private void write(String word, String name, String text) {
    try {
      Files.createDirectories(folder);
      files.put(word, Files.writeString(folder.resolve(name), text));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String answer(String line) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        Main.run(new PrintWriter(out), new PrintWriter(err), filled(line).toArray(String[]::new));
    if (status != 0) {
      throw new IllegalStateException(line + ": " + err);
    }
    return out.toString();
  }
}
