package dev.pipewright.formats.trace;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.trace.TracedLayers.Traced;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.trace.RankShares;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A run of which PyTorch's profiler traced some or all ranks. */
public final class TracedRun {
  /** Work that is this close, as a share of the step, is drawn as one. */
  private static final double CLOSE = 1 / 2000.0;

  private final List<TracedRank> ranks;
  private final List<Integer> numbers;

  /** What a line of the timeline shows. */
  public record Line(int rank, String stream) {}

  private TracedRun(List<TracedRank> ranks, List<Integer> numbers) {
    this.ranks = ranks;
    this.numbers = numbers;
  }

  /**
   * Reads a file for each rank.
   *
   * @param whole whether to take each file as one step
   */
  public static TracedRun read(List<Path> files, boolean whole) {
    List<TracedRank> ranks = new ArrayList<>();
    for (Path file : files) {
      ranks.add(TracedRank.read(file, whole));
    }
    Map<Integer, TracedRank> byNumber = new LinkedHashMap<>();
    for (int i = 0; i < ranks.size(); i++) {
      TracedRank rank = ranks.get(i);
      int number = rank.events.rank >= 0 ? rank.events.rank : i;
      TracedRank other = byNumber.putIfAbsent(number, rank);
      if (other != null) {
        throw BadInputException.in(
            rank.file,
            "is of rank %d, as %s is; give one file for each rank".formatted(number, other.file));
      }
    }
    List<Integer> numbers = byNumber.keySet().stream().sorted().toList();
    return new TracedRun(numbers.stream().map(byNumber::get).toList(), numbers);
  }

  /** What each rank did in its typical step. */
  public List<RankShares> shares() {
    List<RankShares> shares = new ArrayList<>();
    for (int i = 0; i < ranks.size(); i++) {
      shares.add(ranks.get(i).shares(numbers.get(i), ranks.get(i).typical()));
    }
    return shares;
  }

  /** What the lines of the timeline show, in order. */
  public List<Line> lines() {
    List<Line> lines = new ArrayList<>();
    for (int i = 0; i < ranks.size(); i++) {
      for (int stream : streams(ranks.get(i))) {
        lines.add(new Line(numbers.get(i), ranks.get(i).streams.get(stream)));
      }
    }
    return lines;
  }

  private static List<Integer> streams(TracedRank rank) {
    return rank.of(rank.typical()).stream()
        .filter(work -> work.type() != TraceWork.Type.COPY)
        .map(TraceWork::stream)
        .distinct()
        .sorted()
        .toList();
  }

  /**
   * The typical step of each rank, from the begin of its work: clocks of ranks are not compared.
   * Each stream of a rank has a lane; copies have none.
   */
  public Timeline timeline() {
    List<Lane> lanes = new ArrayList<>();
    double step = shares().stream().mapToDouble(RankShares::seconds).max().orElse(0);
    for (TracedRank rank : ranks) {
      double start = rank.start(rank.typical());
      for (int stream : streams(rank)) {
        List<Slice> slices = slices(rank, stream, start, lanes.size(), CLOSE * step);
        double busy = slices.stream().mapToDouble(Slice::seconds).sum();
        double span = slices.get(slices.size() - 1).end() - slices.get(0).start();
        lanes.add(new Lane.Compute(lanes.size(), List.of(), slices, busy, span));
      }
    }
    return new Timeline(lanes, List.of(), List.of(), step);
  }

  private static List<Slice> slices(
      TracedRank rank, int stream, double start, int lane, double close) {
    List<Slice> slices = new ArrayList<>();
    for (TraceWork work : rank.of(rank.typical())) {
      if (work.stream() != stream || work.type() == TraceWork.Type.COPY) {
        continue;
      }
      Slice next = new Slice(kind(work), lane, -1, work.start() - start, work.end() - start);
      Slice last = slices.isEmpty() ? null : slices.get(slices.size() - 1);
      if (last != null && last.kind() == next.kind() && next.start() - last.end() <= close) {
        double end = Math.max(last.end(), next.end());
        slices.set(slices.size() - 1, new Slice(last.kind(), lane, -1, last.start(), end));
      } else {
        slices.add(next);
      }
    }
    return slices;
  }

  private static Kind kind(TraceWork work) {
    return switch (work.type()) {
      case FORWARD, COPY -> Kind.FORWARD;
      case BACKWARD -> Kind.BACKWARD;
      case UPDATE -> Kind.UPDATE;
      case COMMUNICATION ->
          work.collective().filter(CollectiveTiming.Kind.ALL_GATHER::equals).isPresent()
              ? Kind.ALL_GATHER
              : Kind.ALL_REDUCE;
    };
  }

  /** Measured collectives of known size, by kind, group and size. */
  public List<CollectiveTiming> collectives() {
    return TracedCollectives.of(ranks);
  }

  List<TracedRank> ranks() {
    return ranks;
  }

  /** The number of a rank by its position. */
  int number(int position) {
    return numbers.get(position);
  }

  /** How many ranks the run had; as many as were given where the traces do not say. */
  public int worldSize() {
    return ranks.stream().mapToInt(rank -> rank.events.worldSize).max().stream()
        .map(said -> Math.max(said, ranks.size()))
        .findFirst()
        .orElse(ranks.size());
  }

  /** Steps whose times are counted, of the rank with fewest. */
  public int steps() {
    return ranks.stream().mapToInt(rank -> rank.counted().size()).min().orElse(0);
  }

  /** What names the layers, in a word. */
  public String layersAre() {
    return ranks.get(0).contexts.source.words;
  }

  /** Whether kernels of a device were recorded; otherwise operators are the work. */
  public boolean onDevice() {
    return ranks.stream().allMatch(rank -> rank.onDevice);
  }

  /** The share of computing time that belongs to no layer. */
  public double unattributedShare() {
    double all = ranks.stream().mapToDouble(TracedRank::computed).sum();
    double none =
        ranks.stream()
            .flatMap(rank -> unattributed(rank).values().stream())
            .mapToDouble(Double::doubleValue)
            .sum();
    return all == 0 ? 0 : none / all;
  }

  private static Map<String, Double> unattributed(TracedRank rank) {
    return rank.unattributed(
        TracedLayers.of(rank).stream().map(Traced::number).collect(Collectors.toSet()));
  }

  /** The names of the work that belongs to no layer, the longest first. */
  public List<String> unattributed() {
    Map<String, Double> all = new LinkedHashMap<>();
    ranks.forEach(rank ->
        unattributed(rank).forEach((name, seconds) -> all.merge(name, seconds, Double::sum)));
    return all.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue(Comparator.reverseOrder()))
        .map(Map.Entry::getKey)
        .toList();
  }

  /** The share of communication whose kind, size or group is not known. */
  public double unknownCommunicationShare() {
    double all =
        ranks.stream()
            .flatMap(rank -> rank.works.stream().filter(rank::counts))
            .filter(work -> work.type() == TraceWork.Type.COMMUNICATION)
            .mapToDouble(TraceWork::seconds)
            .sum();
    return all == 0 ? 0 : TracedCollectives.unknown(ranks) / all;
  }
}
