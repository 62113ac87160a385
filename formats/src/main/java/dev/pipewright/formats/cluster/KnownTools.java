package dev.pipewright.formats.cluster;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Names files that people take for timings of collectives, so that a refusal says what they are.
 */
final class KnownTools {
  private record Tool(Pattern mark, String what) {}

  private static final List<Tool> TOOLS =
      List.of(
          new Tool(
              Pattern.compile("\\bGPU0\\s+(?:GPU1|X)\\b|\\bCPU Affinity\\b"),
              "is the matrix of links of nvidia-smi topo, which holds no times"),
          new Tool(
              Pattern.compile("P2P (?:Bandwidth|Connectivity)|P2P=(?:Disabled|Enabled)"),
              "is the output of p2pBandwidthLatencyTest: matrices for one size"),
          new Tool(
              Pattern.compile("\\bnvbandwidth\\b|CUDA Bandwidth Test"),
              "is a bandwidth table of CUDA copies, which holds no times of collectives"),
          new Tool(
              Pattern.compile("BW (?:peak|average)\\["),
              "is a bandwidth table of perftest (ib_write_bw and others), which holds no times"),
          new Tool(
              Pattern.compile("t_typical\\[usec\\]"),
              "is a table of perftest (ib_write_lat and others), which is not read"),
          new Tool(
              Pattern.compile("Intel\\(R\\) MPI Benchmarks|\\bt_avg\\[usec\\]"),
              "is the output of the Intel MPI Benchmarks, which is not read"),
          new Tool(
              Pattern.compile("\\[ ID\\] Interval|Connecting to host .* port \\d+"),
              "is the output of iperf: bandwidths, which hold no times"));

  private KnownTools() {}

  /** The first line with the mark of a tool, and what the file is. */
  static Optional<LeftOut> find(List<LogLine> lines) {
    for (LogLine line : lines) {
      for (Tool tool : TOOLS) {
        if (tool.mark().matcher(line.text()).find()) {
          return Optional.of(new LeftOut(line.number(), tool.what(), TimingWords.FORMATS));
        }
      }
    }
    return Optional.empty();
  }
}
