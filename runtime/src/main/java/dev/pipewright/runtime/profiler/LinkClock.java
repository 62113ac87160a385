package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.LinkFigures;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.LinkFit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Joins the reports of all workers of a group about their operations. */
final class LinkClock {
  private static final JsonMapper JSON = new JsonMapper();

  private final int workers;
  private final Map<LinkOperation, NavigableMap<Long, long[][][]>> communication =
      new EnumMap<>(LinkOperation.class); // begins and ends by worker, by operation and bytes

  LinkClock(int workers) {
    this.workers = workers;
  }

  /** A worker's line; repeats of a later measurement join the earlier ones. */
  void add(int worker, String text) {
    JsonNode line = JSON.readTree(text);
    LinkOperation operation = LinkOperation.valueOf(line.get("operation").asString());
    long[][] own =
        communication.computeIfAbsent(operation, key -> new TreeMap<>())
            .computeIfAbsent(line.get("bytes").asLong(), key -> new long[workers][2][0])[worker];
    own[0] = joined(own[0], line.get("begun"));
    own[1] = joined(own[1], line.get("ended"));
  }

  private static long[] joined(long[] before, JsonNode array) {
    LongStream more = IntStream.range(0, array.size()).mapToLong(i -> array.get(i).asLong());
    return LongStream.concat(Arrays.stream(before), more).toArray();
  }

  /**
   * The constants of each operation.
   *
   * @throws BadInputException where the times of one do not grow with the size of its messages
   */
  List<LinkFigures> figures() {
    List<LinkFigures> figures = new ArrayList<>();
    communication.forEach((operation, sizes) -> {
      List<CollectiveTiming> timings = timings(operation, sizes);
      figures.add(new LinkFigures(operation.word(), workers, timings, fit(operation, timings)));
    });
    return figures;
  }

  /** Other programs only lengthen times: what takes longer than a larger message was disturbed. */
  private List<CollectiveTiming> timings(
      LinkOperation operation, NavigableMap<Long, long[][][]> sizes) {
    List<CollectiveTiming> timings = new ArrayList<>();
    double larger = Double.POSITIVE_INFINITY;
    for (Map.Entry<Long, long[][][]> size : sizes.descendingMap().entrySet()) {
      larger = Math.min(larger, typical(operation, size.getValue()));
      timings.add(0, new CollectiveTiming(operation.kind(), workers, size.getKey(), larger));
    }
    return timings;
  }

  private LinkFit fit(LinkOperation operation, List<CollectiveTiming> timings) {
    try {
      return LinkFit.of(timings);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(
          "%s between %d workers: %s; measure again while the machine does nothing else"
              .formatted(operation.word(), workers, e.getMessage()));
    }
  }

  private static double typical(LinkOperation operation, long[][][] byWorker) {
    double[] seconds = new double[byWorker[0][0].length];
    for (int i = 0; i < seconds.length; i++) {
      int repeat = i;
      List<long[]> times =
          Arrays.stream(byWorker).map(own -> new long[] {own[0][repeat], own[1][repeat]}).toList();
      seconds[i] = Math.max(1e-9, operation.seconds(times));
    }
    return Spread.of(seconds).median();
  }
}
