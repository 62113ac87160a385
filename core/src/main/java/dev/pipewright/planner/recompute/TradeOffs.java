package dev.pipewright.planner.recompute;

import dev.pipewright.cost.LayerCosts;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What any stage of a chain costs with so much room: the least extra time with which so many
 * micro-batches fit, if runs of its layers hold their input alone and are computed again, run by
 * run, just before their backward passes, as {@link dev.pipewright.cost.PartlyKept} counts.
 *
 * <p>Paper: O. Beaumont et al., RR-9302, for a single micro-batch; here as many as a stage holds,
 * and a run is computed again once, in a piece; the paper has the nested form.
 *
 * <p>A dynamic program over a stage's layers keeps, of all ways to treat those before a position,
 * the ones that no other beats in extra time, in what each micro-batch holds, and in what one needs
 * at most during its backward pass, in order of extra time and only as far as they are asked for.
 * Exact up to {@value #MOST_BORDERS} layers and {@value #MOST_WAYS} ways; beyond that runs meet at
 * that many places and ways that are nearly beaten are left out, which {@link #exact} tells where
 * an answer may have suffered. Whether anything helps is answered without times, of which there are
 * few ways. At most O(borders · ways · log borders) a stage; all are forgotten when they take too
 * much memory.
 */
public final class TradeOffs {
  static final int MOST_BORDERS = 64;
  static final int MOST_WAYS = 4096;
  private static final int DIGITS = 44; // binary; all sums are exact then
  private static final int MOST_STORED = 1_000_000; // last pieces of all stages

  private final int size;
  private final double[] forward; // seconds of the layers before
  private final double[] kept; // bytes of the layers before
  private final double[] input; // bytes, by layer
  private final double mostBytes;
  private final Recomputation recomputation;
  private final int grain; // runs begin and end at its multiples, or with the stage
  private final Ways[][] rows; // by first layer, then by end
  private final int[] cheapest; // layers, those first that give up bytes for the least time
  private @Nullable TradeOffs untimed; // the same where time is of no interest
  private int stored;
  private boolean exact = true;

  /**
   * What one choice of runs means.
   *
   * @param extraSeconds that the backward pass of a micro-batch takes longer
   * @param heldBytes what a micro-batch in flight holds, the stage's input included
   * @param workingBytes what the backward pass of one needs beyond that, at most
   */
  public record Choice(
      List<LayerRange> again, double extraSeconds, double heldBytes, double workingBytes) {
    public Choice {
      again = List.copyOf(again);
    }

    /**
     * The same where layers are runs of others.
     *
     * @param ends of the layers in the others, from 0
     */
    public Choice inLayers(int[] ends) {
      List<LayerRange> fine = new ArrayList<>();
      for (LayerRange run : again) {
        fine.add(new LayerRange(ends[run.first()], ends[run.last() + 1] - 1));
      }
      return new Choice(fine, extraSeconds, heldBytes, workingBytes);
    }
  }

  /**
   * Of a chain.
   *
   * @param forward seconds of the layers before each position
   * @param kept bytes that the layers before each position keep beyond their inputs
   * @param input bytes that a stage or run holds as its input, by first layer
   * @param mostBytes no stage has more
   * @param recomputation as planners that choose layer by layer follow it ({@link
   *     Recomputation#ofLayers})
   */
  public TradeOffs(
      double[] forward,
      double[] kept,
      double[] input,
      double mostBytes,
      Recomputation recomputation) {
    size = forward.length - 1;
    Check.that(
        size >= 1 && kept.length == size + 1 && input.length >= size,
        "sums for each position: forward=%d, kept=%d, input=%d",
        forward.length,
        kept.length,
        input.length);
    this.forward = rounded(forward, false);
    this.kept = rounded(kept, true);
    this.input = input;
    this.mostBytes = mostBytes;
    this.recomputation = recomputation.ofLayers();
    grain = Math.ceilDiv(size, MOST_BORDERS);
    rows = new Ways[size][0];
    cheapest =
        IntStream.range(0, size)
            .boxed()
            .sorted(Comparator.comparingDouble(this::secondsPerByte))
            .mapToInt(Integer::intValue)
            .toArray();
  }

  /**
   * Sums of terms without so many digits that sums of equal terms would differ by the order of
   * their terms.
   */
  private static double[] rounded(double[] sums, boolean up) {
    double unit = Math.scalb(1.0, Math.getExponent(sums[sums.length - 1]) - DIGITS);
    double[] rounded = new double[sums.length];
    for (int i = 1; i < sums.length; i++) {
      double units = (sums[i] - sums[i - 1]) / unit;
      rounded[i] = rounded[i - 1] + unit * (up ? Math.ceil(units) : Math.rint(units));
    }
    return rounded;
  }

  private double secondsPerByte(int layer) {
    double bytes = kept[layer + 1] - kept[layer];
    return bytes > 0 ? (forward[layer + 1] - forward[layer]) / bytes : Double.POSITIVE_INFINITY;
  }

  /** Of all stages of a network, for one slice size, on the device that the profile is for. */
  public static TradeOffs of(StageCosts costs, int slice) {
    LayerCosts layers = costs.layers(0, costs.size(), slice);
    return of(layers, (double) costs.workload().cluster().mostMemory().value());
  }

  /** Of a chain with at most so many bytes for activations. */
  public static TradeOffs of(LayerCosts costs, double mostBytes) {
    return new TradeOffs(
        upTo(costs.forward()),
        upTo(costs.kept()),
        costs.input(),
        mostBytes,
        Recomputation.SELECTIVE);
  }

  private static double[] upTo(double[] each) {
    double[] sums = new double[each.length + 1];
    for (int i = 0; i < each.length; i++) {
      sums[i + 1] = sums[i] + each[i];
    }
    return sums;
  }

  /** Whether no answer so far was more than the least. */
  public boolean exact() {
    return exact;
  }

  /**
   * What {@link #extraSeconds} is not below, without working out the stage: of each byte that a
   * micro-batch must not hold the least time, as if layers could be divided and inputs were free.
   */
  public double atLeast(int first, int end, int inFlight, double bytes) {
    double left = kept[end] - kept[first] - (bytes / inFlight - input[first]);
    double seconds = 0;
    for (int i = 0; i < size && left > 0; i++) {
      int layer = cheapest[i];
      if (first <= layer && layer < end) {
        double all = kept[layer + 1] - kept[layer];
        double share = left < all ? left / all : 1;
        seconds += share * (forward[layer + 1] - forward[layer]);
        left -= all;
      }
    }
    return seconds * (1 - 1e-9);
  }

  /**
   * The least seconds by which the backward pass of a micro-batch takes longer if so many fit into
   * so many bytes; 0 where all is kept, infinite where nothing helps.
   */
  public double extraSeconds(int first, int end, int inFlight, double bytes) {
    double room = bytes - inFlight * input[first];
    if (room < 0) {
      return Double.POSITIVE_INFINITY;
    }
    if (inFlight * (kept[end] - kept[first]) <= room && recomputation != Recomputation.ALWAYS) {
      return 0;
    }
    if (untimed().of(first, end).leastBytes(inFlight) > room) {
      return Double.POSITIVE_INFINITY;
    }
    Ways ways = of(first, end);
    int way = ways.first(inFlight, room);
    double seconds =
        way < 0 ? smallest(first, end, inFlight).extraSeconds() : ways.extra(way); // left out
    exact = exact && (ways.exact() || seconds <= atLeast(first, end, inFlight, bytes));
    return seconds;
  }

  /** The least bytes with which so many micro-batches fit. */
  public double leastBytes(int first, int end, int inFlight) {
    return untimed().of(first, end).leastBytes(inFlight) + inFlight * input[first];
  }

  /** How many micro-batches of those wanted fit at most. */
  public int room(int first, int end, int wanted, double bytes) {
    int low = 0;
    int high = wanted;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (leastBytes(first, end, middle) <= bytes) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** The runs of {@link #extraSeconds}; empty where nothing helps. */
  public Optional<Choice> choice(int first, int end, int inFlight, double bytes) {
    double room = bytes - inFlight * input[first];
    if (untimed().of(first, end).leastBytes(inFlight) > room) {
      return Optional.empty();
    }
    int way = of(first, end).first(inFlight, room);
    return Optional.of(way < 0 ? smallest(first, end, inFlight) : choice(first, end, way));
  }

  /**
   * The runs with the least bytes, and of these the least extra time; throws where not even those
   * fit into what stages have at most.
   */
  public Choice smallest(int first, int end, int inFlight) {
    double least = untimed().of(first, end).leastBytes(inFlight);
    Check.that(
        least < Double.POSITIVE_INFINITY,
        "nothing makes the stage fit: first=%d, end=%d, in_flight=%d",
        first,
        end,
        inFlight);
    int way = of(first, end).first(inFlight, least);
    return way < 0 ? timed(untimed().smallest(first, end, inFlight)) : choice(first, end, way);
  }

  private Choice timed(Choice choice) {
    double seconds = 0;
    for (LayerRange run : choice.again()) {
      seconds += forward[run.last() + 1] - forward[run.first()];
    }
    return new Choice(choice.again(), seconds, choice.heldBytes(), choice.workingBytes());
  }

  private Choice choice(int first, int end, int way) {
    Ways ways = of(first, end);
    double held = input[first] + ways.held(way);
    List<LayerRange> runs = new ArrayList<>();
    int at = end;
    int index = way;
    while (at > first) {
      Ways here = of(first, at);
      Check.that(here.has(index), "a way was found before: way=%d", index);
      int from = here.from(index);
      if (here.again(index)) {
        runs.add(new LayerRange(from, at - 1));
      }
      index = here.before(index);
      at = from;
    }
    Collections.reverse(runs);
    return new Choice(runs, ways.extra(way), held, ways.peak(way) - ways.held(way));
  }

  private TradeOffs untimed() {
    if (untimed == null) {
      boolean timed = forward[size] > 0;
      double[] none = new double[size + 1];
      untimed = timed ? new TradeOffs(none, kept, input, mostBytes, recomputation) : this;
    }
    return untimed;
  }

  private Ways of(int first, int end) {
    Check.that(
        0 <= first && first < end && end <= size,
        "a stage has layers of the chain: first=%d, end=%d, layers=%d",
        first,
        end,
        size);
    if (rows[first].length == 0) {
      if (stored > MOST_STORED) {
        java.util.Arrays.fill(rows, new Ways[0]);
        stored = 0;
      }
      rows[first] = new Ways[size + 1 - first];
    }
    @Nullable Ways known = rows[first][end - first];
    if (known != null) {
      return known;
    }
    Ways made =
        switch (recomputation) {
          case NEVER -> Ways.keeping(kept[end] - kept[first], first);
          case ALWAYS -> Ways.again(kept[end] - kept[first], forward[end] - forward[first], first);
          default -> solved(first, end);
        };
    rows[first][end - first] = made;
    return made;
  }

  private Ways solved(int first, int end) {
    int last = border(first, end - 1);
    double room = mostBytes - input[first];
    WayMerge merge = new WayMerge(room, grain == 1, (last - first) / grain + 3);
    merge.keep(before(first, last), last, kept[end] - kept[last]);
    for (int from = last; kept[end] - kept[from] <= room; from = border(first, from - 1)) {
      double held = from == first ? 0 : input[from];
      double working = held + kept[end] - kept[from];
      merge.again(before(first, from), from, held, working, forward[end] - forward[from]);
      stored++;
      if (from == first) {
        break;
      }
    }
    return new Ways(merge);
  }

  /** The ways before a piece that begins at {@code from}. */
  private Ways before(int first, int from) {
    return from == first ? Ways.NOTHING : of(first, from);
  }

  /** The last place at or before {@code at} where a run of a stage may begin. */
  private int border(int first, int at) {
    return Math.max(first, at - at % grain);
  }
}
