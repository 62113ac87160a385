package dev.pipewright.formats.trace;

import dev.pipewright.compare.MeasuredPipeline.Iteration;
import dev.pipewright.formats.json.Node;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The passes of one iteration in a {@link PipelineDump}. Newer dumps name the chunk and the
 * micro-batch of each pass; in older ones they follow from Megatron's order: groups of as many
 * micro-batches as ranks go through the chunks, forwards in ascending and backwards in descending
 * order.
 */
final class DumpedPasses {
  private static final double MILLISECONDS = 1e3;
  private static final Map<Pass, String> KEYS =
      Map.of(Pass.FORWARD, "fwd", Pass.BACKWARD, "bwd", Pass.BACKWARD_WEIGHT, "wgrad");

  private final int ranks;
  private final int chunks;
  private final int microBatches;

  DumpedPasses(int ranks, int chunks, int microBatches) {
    this.ranks = ranks;
    this.chunks = chunks;
    this.microBatches = microBatches;
  }

  /** A pass of a rank. */
  private record Timed(Pass pass, int chunk, int microBatch, double start, double end) {}

  static double memory(Node rank) {
    Node memory = rank.members().get("memory");
    return memory == null || !memory.is(Node.Type.NUMBER) ? 0 : memory.finite();
  }

  /**
   * Which rank has which stage: in turn, or there and back where the first micro-batch reaches the
   * second chunk of the last rank before that of the first.
   */
  Placement placement(List<Node> iteration) {
    if (chunks == 1) {
      return Placement.straight(ranks);
    }
    boolean back =
        chunks == 2 && ranks > 1 && second(iteration.get(ranks - 1)) < second(iteration.get(0));
    return back ? Placement.waves(ranks, chunks) : Placement.looped(ranks, chunks);
  }

  private double second(Node rank) {
    return passes(rank, Pass.FORWARD).stream()
        .filter(pass -> pass.chunk == 1)
        .mapToDouble(Timed::start)
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  Iteration iteration(int number, List<Node> files, Placement placement) {
    long[][] programs = new long[ranks][];
    double[][] starts = new double[ranks][];
    double[][] ends = new double[ranks][];
    double seconds = 0;
    for (int rank = 0; rank < ranks; rank++) {
      Node node = files.get(rank);
      List<Timed> passes = all(node);
      programs[rank] = new long[passes.size()];
      starts[rank] = passes.stream().mapToDouble(Timed::start).toArray();
      ends[rank] = passes.stream().mapToDouble(Timed::end).toArray();
      boolean split = passes.stream().anyMatch(pass -> pass.pass == Pass.BACKWARD_WEIGHT);
      for (int i = 0; i < passes.size(); i++) {
        Timed timed = passes.get(i);
        if (i > 0 && timed.start < passes.get(i - 1).end - 1e-6) {
          throw node.wrong(
              "passes overlap at %.3f ms; dump a run without combined forward and backward passes"
                  .formatted(MILLISECONDS * timed.start));
        }
        Pass pass = split && timed.pass == Pass.BACKWARD ? Pass.BACKWARD_INPUT : timed.pass;
        programs[rank][i] =
            Schedule.pack(pass, stage(placement, rank, timed.chunk), timed.microBatch);
      }
      seconds = Math.max(seconds, total(node));
    }
    String name = chunks == 1 ? "measured" : "measured, " + chunks + " chunks";
    return new Iteration(
        number, seconds, new Schedule(name, placement, microBatches, programs), starts, ends);
  }

  private int stage(Placement placement, int rank, int chunk) {
    int seen = 0;
    for (int stage = 0; stage < placement.stages(); stage++) {
      if (placement.rankOf(stage) == rank && seen++ == chunk) {
        return stage;
      }
    }
    throw new IllegalArgumentException("no chunk " + chunk + " on rank " + rank);
  }

  private static double total(Node rank) {
    Node total = rank.members().get("total");
    if (total == null) {
      throw rank.wrong("lacks the key \"total\"; give the files that --dump_pp_data wrote");
    }
    return total.finite() / MILLISECONDS;
  }

  /** All passes of a rank in the order in which they began. */
  private List<Timed> all(Node rank) {
    List<Timed> all = new ArrayList<>(passes(rank, Pass.FORWARD));
    all.addAll(passes(rank, Pass.BACKWARD));
    if (!times(rank, "wgrad_start").isEmpty()) {
      all.addAll(passes(rank, Pass.BACKWARD_WEIGHT));
    }
    all.sort(Comparator.comparingDouble(Timed::start));
    return all;
  }

  private List<Timed> passes(Node rank, Pass pass) {
    String key = KEYS.getOrDefault(pass, "");
    List<Node> starts = times(rank, key + "_start");
    List<Node> ends = times(rank, key + "_end");
    int count = chunks * microBatches;
    if (starts.size() != count || ends.size() != count) {
      throw rank.wrong(
          "iteration %s has %d begins and %d ends of %s passes; expected %d, for %d chunks of %d micro-batches"
              .formatted(
                  rank.place(), starts.size(), ends.size(), key, count, chunks, microBatches));
    }
    List<Node> chunk = times(rank, key + "_chunk");
    List<Node> batch = times(rank, key + "_minibatch");
    boolean named = chunk.size() == count && batch.size() == count;
    Set<Integer> seen = new HashSet<>();
    List<Timed> passes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int of = named ? (int) chunk.get(i).whole(0, chunks - 1) : chunk(pass, i);
      int micro = named ? (int) batch.get(i).whole(0, microBatches - 1) : microBatch(i);
      double start = starts.get(i).finite() / MILLISECONDS;
      double end = ends.get(i).finite() / MILLISECONDS;
      if (end < start) {
        throw ends.get(i)
            .wrong(
                "%s[%d] lies before %s_start[%d]; give the files that --dump_pp_data wrote"
                    .formatted(key + "_end", i, key, i));
      }
      if (!seen.add(of * microBatches + micro)) {
        throw rank.wrong(
            "iteration %s has two %s passes of chunk %d and micro-batch %d; expected one"
                .formatted(rank.place(), key, of, micro));
      }
      passes.add(new Timed(pass, of, micro, start, end));
    }
    return passes;
  }

  private static List<Node> times(Node rank, String key) {
    Node list = rank.members().get(key);
    return list == null ? List.of() : list.elements();
  }

  private int group() {
    return Math.min(ranks, microBatches);
  }

  private int chunk(Pass pass, int i) {
    int chunk = i / group() % chunks;
    return pass == Pass.FORWARD ? chunk : chunks - 1 - chunk;
  }

  private int microBatch(int i) {
    return i / (group() * chunks) * group() + i % group();
  }
}
