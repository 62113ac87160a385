package dev.pipewright.planner.recompute;

import dev.pipewright.cost.LayerCosts;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Which layers of a pipeline's stage run again so that several micro-batches in flight fit: runs of
 * layers that hold their input alone and are computed anew, run by run, just before their backward
 * passes; all other layers keep what they need.
 *
 * <p>Paper: O. Beaumont et al., RR-9302, for a single micro-batch; here as many as a stage holds. A
 * run is computed again once, in a piece: {@link OptimalCheckpoints} has the nested form.
 *
 * <p>O(layers² · slots²); more than 64 layers are joined to so many pieces first.
 */
public final class StageCheckpoints {
  private static final int SLOTS = 256; // of what a micro-batch may hold
  private static final int MOST_PIECES = 64; // that can be told apart

  private StageCheckpoints() {}

  /**
   * The runs with the least extra time with which so many micro-batches fit, numbered from the
   * stage's first layer; none where all fits as it is, empty where nothing does.
   *
   * @param inFlight micro-batches held at once
   * @param bytes for activations
   */
  public static Optional<List<LayerRange>> of(LayerCosts costs, int inFlight, double bytes) {
    Check.that(inFlight >= 1, "a stage holds a micro-batch: in_flight=%d", inFlight);
    double free = bytes - inFlight * costs.input()[0];
    if (free < 0) {
      return Optional.empty();
    }
    int[] ends = ends(costs.size());
    return new Search(joined(costs, ends), inFlight, free)
        .best()
        .map(runs -> runs.stream().map(run -> inLayers(run, ends)).toList());
  }

  /** Where pieces end that have as many layers, but for one. */
  private static int[] ends(int layers) {
    int[] ends = new int[Math.min(layers, MOST_PIECES)];
    Arrays.setAll(ends, i -> (int) ((i + 1L) * layers / ends.length));
    return ends;
  }

  private static LayerRange inLayers(LayerRange pieces, int[] ends) {
    return new LayerRange(
        pieces.first() == 0 ? 0 : ends[pieces.first() - 1], ends[pieces.last()] - 1);
  }

  private static LayerCosts joined(LayerCosts costs, int[] ends) {
    double[][] sums = new double[4][ends.length];
    int layer = 0;
    for (int piece = 0; piece < ends.length; piece++) {
      sums[3][piece] = costs.input()[layer];
      for (; layer < ends[piece]; layer++) {
        sums[0][piece] += costs.forward()[layer];
        sums[1][piece] += costs.backward()[layer];
        sums[2][piece] += costs.kept()[layer];
      }
    }
    return new LayerCosts(sums[0], sums[1], sums[2], sums[3]);
  }

  /** The dynamic program, once for each amount that a micro-batch may hold. */
  private static final class Search {
    private final int layers;
    private final int inFlight;
    private final double free;
    private final double slotBytes;
    private final double[] keptUpTo; // bytes of the layers before
    private final double[] forwardUpTo;
    private final int[] kept; // slots
    private final int[] input;
    private final double[][] extra; // by end of what is decided, by slots held
    private final int[][] from; // the end before; negative where the layer is kept

    Search(LayerCosts costs, int inFlight, double free) {
      this.inFlight = inFlight;
      this.free = free;
      layers = costs.size();
      slotBytes = free / inFlight / SLOTS;
      keptUpTo = upTo(costs.kept());
      forwardUpTo = upTo(costs.forward());
      kept = inSlots(costs.kept());
      input = inSlots(costs.input());
      input[0] = 0; // counted apart
      extra = new double[layers + 1][SLOTS + 1];
      from = new int[layers + 1][SLOTS + 1];
    }

    private static double[] upTo(double[] each) {
      double[] sums = new double[each.length + 1];
      for (int i = 0; i < each.length; i++) {
        sums[i + 1] = sums[i] + each[i];
      }
      return sums;
    }

    private int[] inSlots(double[] bytes) {
      return Arrays.stream(bytes)
          .mapToInt(each ->
              each == 0 ? 0 : (int) Math.min(SLOTS + 1.0, Math.ceil(each / slotBytes * (1 - 1e-9))))
          .toArray();
    }

    Optional<List<LayerRange>> best() {
      double least = Double.POSITIVE_INFINITY;
      List<LayerRange> best = List.of();
      for (int held = 0; held <= SLOTS; held++) {
        solve(held);
        int end = least(held);
        if (extra[layers][end] < least) {
          least = extra[layers][end];
          best = runs(end);
        }
      }
      return least < Double.POSITIVE_INFINITY ? Optional.of(best) : Optional.empty();
    }

    /** The slots held that cost least in the end. */
    private int least(int held) {
      int best = 0;
      for (int slots = 1; slots <= held; slots++) {
        best = extra[layers][slots] < extra[layers][best] ? slots : best;
      }
      return best;
    }

    private void solve(int held) {
      for (double[] row : extra) {
        Arrays.fill(row, 0, held + 1, Double.POSITIVE_INFINITY);
      }
      extra[0][0] = 0;
      double room = free - (inFlight - 1) * held * slotBytes;
      for (int first = 0; first < layers; first++) {
        for (int slots = 0; slots <= held; slots++) {
          double before = extra[first][slots];
          if (before < Double.POSITIVE_INFINITY) {
            offer(first + 1, slots + kept[first], held, before, -1);
            again(first, slots + input[first], held, room, before);
          }
        }
      }
    }

    private void again(int first, int slots, int held, double room, double before) {
      double working = (room - slots * slotBytes) * (1 + 1e-12);
      for (int end = first + 1; end <= layers; end++) {
        if (keptUpTo[end] - keptUpTo[first] > working) {
          return;
        }
        offer(end, slots, held, before + forwardUpTo[end] - forwardUpTo[first], first);
      }
    }

    private void offer(int end, int slots, int held, double seconds, int first) {
      if (slots <= held && seconds < extra[end][slots]) {
        extra[end][slots] = seconds;
        from[end][slots] = first;
      }
    }

    private List<LayerRange> runs(int slots) {
      List<LayerRange> runs = new ArrayList<>();
      int left = slots;
      for (int end = layers; end > 0; ) {
        int first = from[end][left];
        if (first < 0) {
          left -= kept[--end];
        } else {
          runs.add(new LayerRange(first, end - 1));
          left -= input[first];
          end = first;
        }
      }
      Collections.reverse(runs);
      return runs;
    }
  }
}
