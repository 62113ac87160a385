package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Content;
import dev.pipewright.trace.Timeline.Flow;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.MemoryUnit;
import dev.pipewright.trace.Timeline.Slice;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A simulated or measured run under its name, with what pictures and tables say about it. */
public final class Shown {
  private static final int LONGEST = 40; // characters of all ranks' caps
  private static final int MOST_ARROWS = 100;
  private static final double ROUNDING = 1e-9; // of counts in parts of a stage

  private final String name;
  private final Timeline timeline;
  private final Optional<Period> period;
  private final SliceNumbers numbering;

  /**
   * How often a schedule that never flushes repeats once its pipeline is full.
   *
   * @param microBatches that it completes in a period
   * @param idleShare the part of a period for which a rank computes nothing, on average
   */
  public record Period(double time, int microBatches, double idleShare) {
    /** {@code 4 micro-batches}. */
    String completes() {
      return Numbers.grouped(microBatches)
          + (microBatches == 1 ? " micro-batch" : " micro-batches");
    }
  }

  public Shown(String name, Timeline timeline, Optional<Period> period) {
    this.name = name;
    this.timeline = timeline;
    this.period = period;
    this.numbering = new SliceNumbers(timeline.placement());
  }

  String name() {
    return name;
  }

  public Timeline timeline() {
    return timeline;
  }

  Optional<Period> period() {
    return period;
  }

  SliceNumbers numbering() {
    return numbering;
  }

  public double makespan() {
    return timeline.stepSeconds();
  }

  List<Lane.Compute> ranks() {
    return timeline.compute();
  }

  /** Slices of all lanes. */
  public long slices() {
    long slices = 0;
    for (Lane lane : timeline.lanes()) {
      slices += lane.slices().size();
    }
    return slices;
  }

  boolean inBytes() {
    return timeline.memoryUnit() == MemoryUnit.BYTES;
  }

  /** The most that any rank holds. */
  double peak() {
    double peak = 0;
    for (Memory memory : timeline.memory()) {
      peak = Math.max(peak, memory.peak());
    }
    return peak;
  }

  /** {@code 13.1 GiB}, or {@code 4.5} activations, which may be parts of those of a stage. */
  String amount(double held) {
    return inBytes() ? Numbers.bytes(held) : Numbers.plain(Math.rint(held * 100) / 100);
  }

  boolean isCapped() {
    return timeline.memory().stream().anyMatch(memory -> Figure.isLimited(memory.capacity()));
  }

  static boolean exceeds(Memory memory) {
    return Figure.isLimited(memory.capacity()) && memory.peak() > memory.capacity() + ROUNDING;
  }

  /** Whether a rank holds more than it can or may. */
  boolean exceedsCap() {
    return timeline.memory().stream().anyMatch(Shown::exceeds);
  }

  /** Whether all ranks can or may hold the same. */
  boolean hasOneCap() {
    return timeline.memory().stream().mapToDouble(Memory::capacity).distinct().count() == 1;
  }

  /** {@code 8}, {@code 8:7:6:5} by rank, or {@code 1 to 64 by rank} where that is too long. */
  String cap() {
    List<Double> values = new ArrayList<>();
    List<String> words = new ArrayList<>();
    for (Memory memory : timeline.memory()) {
      values.add(memory.capacity());
      words.add(cap(memory.capacity()));
    }
    if (hasOneCap()) {
      return words.get(0);
    }
    String all = String.join(":", words);
    return all.length() <= LONGEST
        ? all
        : "%s to %s by %s"
            .formatted(
                cap(Collections.min(values)),
                cap(Collections.max(values)),
                inBytes() ? "stage" : "rank");
  }

  private String cap(double capacity) {
    return inBytes() ? Numbers.bytes(capacity) : Numbers.plain(capacity);
  }

  /** {@code period 6 for 1 micro-batch; idle 50 % of it once the pipeline is full}, or empty. */
  String periodWords(TimeNotation clock) {
    return period
        .map(found ->
            "period %s for %s; idle %s of it once the pipeline is full"
                .formatted(
                    clock.duration(found.time()),
                    found.completes(),
                    Units.percent(found.idleShare())))
        .orElse("");
  }

  /** The kinds of work that occur. */
  Set<Look> looks() {
    return looks(false);
  }

  /** The kinds of work that take time, which are those that lines of text show. */
  Set<Look> timed() {
    return looks(true);
  }

  private Set<Look> looks(boolean timed) {
    Set<Look> looks = EnumSet.noneOf(Look.class);
    for (Lane lane : timeline.lanes()) {
      for (Slice slice : lane.slices()) {
        if (!timed || slice.seconds() > 0) {
          looks.add(Look.of(slice.kind()));
        }
      }
    }
    return looks;
  }

  /** Those that pictures show: what takes time, and states received, which have arrows. */
  Set<Look> drawn() {
    Set<Look> looks = timed();
    if (looks().contains(Look.HAND_ON)) {
      looks.add(Look.HAND_ON);
    }
    return looks;
  }

  /** States that ranks receive, where they are so few that pictures have arrows for them. */
  List<Flow> arrows() {
    List<Flow> received =
        timeline.flows().stream().filter(flow -> flow.content() == Content.STATE).toList();
    return received.size() > MOST_ARROWS ? List.of() : received;
  }

  /** The slice that a flow leads to. */
  Slice target(Flow flow) {
    return ranks().get(flow.to()).slices().get(flow.toSlice());
  }

  /** Whether an exchange overlaps computation, so that pictures need room for both. */
  boolean overlaps() {
    for (Lane.Compute lane : timeline.compute()) {
      for (int i = 0; i < lane.slices().size(); i++) {
        Look look = Look.of(lane.slices().get(i).kind());
        boolean drawn = lane.slices().get(i).seconds() > 0 || look == Look.HAND_ON;
        if (drawn && look.exchanges() && Lanes.overlaps(lane.slices(), i)) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Copies of the parameters that ranks hold together, where only activations are counted: 1 unless
   * a schedule of two directions has each stage on two ranks.
   */
  double parameterCopies() {
    boolean workers = looks().stream().anyMatch(Look::exchanges); // of data parallelism
    return inBytes() || workers ? 1 : timeline.placement().copies();
  }

  /** How long an op usually takes: the lower median, not counting those that take no time. */
  double usual() {
    double[] seconds = new double[(int) slices()];
    int size = 0;
    for (Lane.Compute lane : timeline.compute()) {
      for (Slice slice : lane.slices()) {
        if (slice.seconds() > 0 && !slice.kind().exchanges()) {
          seconds[size++] = slice.seconds();
        }
      }
    }
    Arrays.sort(seconds, 0, size);
    return size == 0 ? Double.POSITIVE_INFINITY : seconds[(size - 1) / 2];
  }
}
