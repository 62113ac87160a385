package dev.pipewright.formats.trace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import java.util.stream.Collectors;

/**
 * A pipeline that is run as Megatron-LM runs it, pass by pass in its loops of warm-up, steady state
 * and cool-down, with times of its own; the passes are written as Primus dumps them.
 *
 * @param forward milliseconds of a forward pass of a stage
 * @param backward likewise
 * @param transfer milliseconds of a message
 * @param turnaround milliseconds that a rank takes between two passes
 * @param jitter largest share by which a pass takes longer or shorter
 */
record DumpMaker(
    int ranks,
    int chunks,
    int microBatches,
    IntToDoubleFunction forward,
    IntToDoubleFunction backward,
    double transfer,
    double turnaround,
    double jitter) {

  private static final class Rank {
    final List<int[]> order = new ArrayList<>(); // 0 or 1 for backward, stage, micro-batch
    final double[][] times = new double[4][]; // begins and ends of both kinds, in their order
    int next;
    double free = 1;
    final int[] done = new int[2];
  }

  /** Writes so many iterations; of the disturbed one a pass takes twenty times as long. */
  void write(Path folder, int iterations, int disturbed) throws IOException {
    SplittableRandom random = new SplittableRandom(ranks * 31L + chunks);
    StringBuilder[] texts = new StringBuilder[ranks];
    Arrays.setAll(texts, rank -> new StringBuilder("{"));
    for (int iteration = 1; iteration <= iterations; iteration++) {
      Rank[] all = run(random, iteration == disturbed ? 20 : 1);
      double total = Arrays.stream(all).mapToDouble(rank -> rank.free).max().orElse(0);
      for (int rank = 0; rank < ranks; rank++) {
        texts[rank]
            .append(iteration == 1 ? "" : ",")
            .append(
                String.format(
                    Locale.ROOT,
                    "\n \"%d\": {\"total\": %.4f, \"memory\": 20.5, \"fwd_start\": %s,"
                        + " \"fwd_end\": %s, \"bwd_start\": %s, \"bwd_end\": %s}",
                    iteration,
                    total,
                    list(all[rank].times[0]),
                    list(all[rank].times[1]),
                    list(all[rank].times[2]),
                    list(all[rank].times[3])));
      }
    }
    for (int rank = 0; rank < ranks; rank++) {
      Files.writeString(folder.resolve("pp_rank_" + rank + ".json"), texts[rank] + "}\n");
    }
    Files.writeString(
        folder.resolve("config.json"),
        "{\"pp_size\": %d, \"vp_size\": %d, \"num_mbs\": %d, \"tp_size\": 1}"
            .formatted(ranks, chunks, microBatches));
  }

  private static String list(double... values) {
    return Arrays.stream(values)
        .mapToObj(value -> String.format(Locale.ROOT, "%.4f", value))
        .collect(Collectors.joining(", ", "[", "]"));
  }

  private Rank[] run(SplittableRandom random, double slow) {
    Rank[] all = new Rank[ranks];
    int count = chunks * microBatches;
    double[][] ready = new double[2 * ranks * chunks][microBatches]; // outputs, then gradients
    for (double[] stage : ready) {
      Arrays.fill(stage, Double.NaN);
    }
    for (int rank = 0; rank < ranks; rank++) {
      all[rank] = new Rank();
      Arrays.setAll(all[rank].times, i -> new double[count]);
      order(all[rank].order, rank);
    }
    boolean moved = true;
    while (moved) {
      moved = false;
      for (int r = 0; r < ranks; r++) {
        Rank rank = all[r];
        while (rank.next < rank.order.size()) {
          int[] pass = rank.order.get(rank.next);
          int stages = ranks * chunks;
          boolean back = pass[0] == 1;
          int from = back ? pass[1] + 1 : pass[1] - 1;
          boolean waits = from >= 0 && from < stages;
          double input = waits ? ready[back ? stages + from : from][pass[2]] : 0;
          if (Double.isNaN(input)) {
            break;
          }
          double other = waits && from % ranks != r ? transfer : 0;
          double start = Math.max(rank.free + (rank.next > 0 ? turnaround : 0), input + other);
          double seconds = (back ? backward : forward).applyAsDouble(pass[1]);
          double extra = r == 1 && rank.next == 3 ? slow : 1;
          double end = start + seconds * extra * (1 + jitter * random.nextDouble(-1, 1));
          int at = rank.done[pass[0]]++;
          rank.times[2 * pass[0]][at] = start;
          rank.times[2 * pass[0] + 1][at] = end;
          ready[back ? stages + pass[1] : pass[1]][pass[2]] = end;
          rank.free = end;
          rank.next++;
          moved = true;
        }
      }
    }
    return all;
  }

  private void order(List<int[]> order, int rank) {
    int count = chunks * microBatches;
    int warmUp =
        chunks == 1
            ? Math.min(count, ranks - rank - 1)
            : Math.min(count, 2 * (ranks - rank - 1) + (chunks - 1) * ranks);
    for (int i = 0; i < warmUp; i++) {
      order.add(pass(0, rank, i));
    }
    for (int i = 0; i < count - warmUp; i++) {
      order.add(pass(0, rank, warmUp + i));
      order.add(pass(1, rank, i));
    }
    for (int i = count - warmUp; i < count; i++) {
      order.add(pass(1, rank, i));
    }
  }

  private int[] pass(int kind, int rank, int i) {
    int within = i % (ranks * chunks);
    int chunk = chunks == 1 ? 0 : within / ranks;
    int group = i / (ranks * chunks) * ranks;
    int batch = chunks == 1 ? i : group + within % ranks;
    return new int[] {kind, (kind == 0 ? chunk : chunks - 1 - chunk) * ranks + rank, batch};
  }
}
