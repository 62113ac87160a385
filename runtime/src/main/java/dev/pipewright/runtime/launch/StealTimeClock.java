package dev.pipewright.runtime.launch;

import dev.pipewright.execution.StealTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Counts what a virtual machine's host takes away from its processors, as Linux states it. */
public final class StealTimeClock {
  private static final Path STATISTICS = Path.of("/proc/stat");

  // of the line's numbers: user, nice, system, idle, iowait, irq, softirq, steal
  private static final int[] USED = {0, 1, 2, 5, 6};
  private static final int STOLEN = 7;

  private final Path statistics;
  private final Ticks begin;

  /** Ticks of all processors since the system's start. */
  private record Ticks(long used, long stolen) {
    private static final Ticks UNKNOWN = new Ticks(0, 0);
  }

  /** Begins to count. */
  public StealTimeClock() {
    this(STATISTICS);
  }

  StealTimeClock(Path statistics) {
    this.statistics = statistics;
    this.begin = read(statistics);
  }

  /** Since it began to count. */
  public StealTime stolen() {
    Ticks now = read(statistics);
    long stolen = Math.max(0, now.stolen() - begin.stolen());
    long used = Math.max(0, now.used() - begin.used());
    return new StealTime(stolen == 0 ? 0 : (double) stolen / (used + stolen));
  }

  /** The stolen time in the system's hundredths of a second, of all processors together. */
  public long ticks() {
    return Math.max(0, read(statistics).stolen() - begin.stolen());
  }

  private static Ticks read(Path statistics) {
    try {
      return Files.readAllLines(statistics).stream()
          .filter(line -> line.startsWith("cpu "))
          .findFirst()
          .map(StealTimeClock::parse)
          .orElse(Ticks.UNKNOWN);
    } catch (IOException e) { // another system
      return Ticks.UNKNOWN;
    }
  }

  private static Ticks parse(String line) {
    long[] ticks =
        Arrays.stream(line.strip().split(" +")).skip(1).mapToLong(Long::parseLong).toArray();
    if (ticks.length <= STOLEN) { // an old kernel
      return Ticks.UNKNOWN;
    }
    return new Ticks(Arrays.stream(USED).mapToLong(i -> ticks[i]).sum(), ticks[STOLEN]);
  }
}
