package dev.pipewright.formats.memory;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.TextLines;
import dev.pipewright.sim.CyclicMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * Memory over time as comma-separated values: reads what one worker recorded, writes what several
 * hold. Columns are found by name, in any order; those of other names are ignored.
 */
public final class MemoryCurveCsv {
  /** Rows that are written at most; where the curves have more steps, as many equal intervals. */
  public static final int MOST_ROWS = 20_000;

  private static final List<String> TIMES = List.of("time", "time_s", "seconds");
  private static final List<String> SIZES = List.of("bytes", "memory", "memory_bytes");
  private static final int MOST_SAMPLES = 2_000_000;
  private static final double SHORTEST = 1e-9; // seconds of a step
  private static final double LONGEST = 1e9;
  private static final String OUR_HEADING = "time,dp,";

  private final Path file;
  private List<String> columns = List.of();
  private String time = "";
  private String size = "";
  private double[] seconds = new double[64];
  private double[] bytes = new double[64];
  private int samples;
  private double least = Double.POSITIVE_INFINITY;
  private int leastLine;

  private MemoryCurveCsv(Path file) {
    this.file = file;
  }

  /** Throws {@link BadInputException} when a line is no sample, or the samples are no curve. */
  public static MemoryCurve read(Path file) {
    MemoryCurveCsv csv = new MemoryCurveCsv(file);
    try (TextLines text = TextLines.open(file, "a recorded curve")) {
      for (@Nullable String line = text.next(); line != null; line = text.next()) {
        if (line.isBlank()) {
          continue;
        }
        if (csv.columns.isEmpty()) {
          csv.headings(line, text.number());
        } else {
          csv.sample(line, text.number());
        }
      }
    }
    return csv.checked();
  }

  private static List<String> cells(String line) {
    return Arrays.stream(line.split(",", -1)).map(String::strip).toList();
  }

  private void headings(String line, int number) {
    columns = cells(line.toLowerCase(Locale.ROOT));
    time = column(TIMES, "times", number);
    size = column(SIZES, "memory", number);
  }

  private String column(List<String> names, String what, int number) {
    List<String> found = columns.stream().filter(names::contains).toList();
    if (found.size() != 1) {
      throw BadInputException.at(
          file,
          number,
          (found.isEmpty() ? "has no column of " : "has " + found.size() + " columns of ")
              + what
              + "; expected one of "
              + String.join(", ", names)
              + " among the headings");
    }
    return found.get(0);
  }

  private void sample(String line, int number) {
    List<String> cells = cells(line);
    if (cells.size() != columns.size()) {
      throw BadInputException.at(
          file,
          number,
          "%d values stand under %d headings; expected one for each"
              .formatted(cells.size(), columns.size()));
    }
    if (samples == MOST_SAMPLES) {
      throw BadInputException.at(
          file, number, "has more than 2,000,000 samples; record one step, or fewer of it");
    }
    double at = number(cells, time, number);
    double held = number(cells, size, number);
    if (!Double.isFinite(at)) {
      throw BadInputException.at(
          file, number, time + "=" + at + " is no time; give seconds, a finite number");
    }
    if (samples > 0 && at <= seconds[samples - 1]) {
      throw BadInputException.at(
          file,
          number,
          "%s=%s is not after %s of the sample before; sort by time and keep one sample of each"
              .formatted(time, at, seconds[samples - 1]));
    }
    if (!(held >= 0 && held <= Long.MAX_VALUE)) {
      throw BadInputException.at(
          file,
          number,
          "%s=%s is no amount of memory; give bytes, a number from 0 to 9.2e18"
              .formatted(size, held));
    }
    add(at, held, number);
  }

  private double number(List<String> cells, String column, int number) {
    String cell = cells.get(columns.indexOf(column));
    Double value = TextLines.number(cell);
    if (value == null) {
      throw BadInputException.at(
          file,
          number,
          column + "=" + cell + " is no number; write digits, like 1048576 or 4.4e-5");
    }
    return value;
  }

  private void add(double at, double held, int number) {
    if (samples == seconds.length) {
      seconds = Arrays.copyOf(seconds, 2 * samples);
      bytes = Arrays.copyOf(bytes, 2 * samples);
    }
    if (held < least) {
      least = held;
      leastLine = number;
    }
    seconds[samples] = at;
    bytes[samples++] = held;
  }

  private MemoryCurve checked() {
    if (columns.isEmpty()) {
      throw BadInputException.at(
          file, 1, "the file is empty; expected the headings time and bytes, and samples");
    }
    if (samples < 2) {
      throw BadInputException.at(
          file,
          1,
          "holds "
              + (samples == 0 ? "no samples" : "one sample")
              + "; expected at least two, the last where the step ends");
    }
    double period = seconds[samples - 1] - seconds[0];
    if (!(period >= SHORTEST && period <= LONGEST)) {
      throw BadInputException.at(
          file,
          1,
          "spans %s seconds, which no training step takes; give times in seconds, 1e-9 to 1e9 of them"
              .formatted(period));
    }
    return new MemoryCurve(
        Arrays.copyOf(seconds, samples), Arrays.copyOf(bytes, samples), least, leastLine);
  }

  /**
   * Memory per worker over one period: of workers in step, then of each number of cyclic workers. A
   * row holds until the next and the last ends the period. Where the curves have too many steps,
   * rows are equal intervals and hold the most in each.
   */
  public static String text(CyclicMemory worker, List<Integer> workers) {
    StringBuilder text = new StringBuilder("time,dp");
    workers.forEach(count -> text.append(",cyclic_").append(count));
    text.append('\n');
    List<CyclicMemory> together = workers.stream().map(worker::together).toList();
    double[] times = times(worker, together, workers);
    int last = times.length - 1;
    for (int row = 0; row <= last; row++) {
      int interval = row % last; // the next period begins as this one
      double from = times[interval];
      double to = times[interval + 1];
      text.append(times[row]).append(',').append(held(worker, from, to, last));
      for (int column = 0; column < workers.size(); column++) {
        double held = held(together.get(column), from, to, last);
        text.append(',').append(held / workers.get(column));
      }
      text.append('\n');
    }
    return text.toString();
  }

  /**
   * What an interval's row says: the most, or where it is one step, its value away from rounding.
   */
  private static double held(CyclicMemory curve, double from, double to, int intervals) {
    return intervals == MOST_ROWS ? curve.most(from, to) : curve.at((from + to) / 2);
  }

  private static double[] times(
      CyclicMemory worker, List<CyclicMemory> together, List<Integer> workers) {
    double period = worker.period();
    List<double[]> all = new ArrayList<>(List.of(worker.times()));
    long count = all.get(0).length;
    for (int i = 0; i < workers.size() && count < MOST_ROWS; i++) {
      double[] times = together.get(i).times();
      double share = together.get(i).period();
      count += (long) times.length * workers.get(i);
      for (int part = 0; part < workers.get(i) && count < MOST_ROWS; part++) {
        double start = part * share;
        all.add(Arrays.stream(times).map(time -> start + time).toArray());
      }
    }
    if (count >= MOST_ROWS) {
      double[] even = new double[MOST_ROWS + 1];
      Arrays.setAll(even, row -> period * row / MOST_ROWS);
      return even;
    }
    return distinct(all.stream().flatMapToDouble(Arrays::stream).sorted(), period);
  }

  /** Times up to the period's end, of those that differ by rounding alone the first. */
  private static double[] distinct(DoubleStream sorted, double period) {
    double[] times = sorted.toArray();
    double[] kept = new double[times.length + 1];
    int count = 0;
    for (double time : times) {
      boolean apart = count == 0 || time - kept[count - 1] > 1e-9 * period;
      if (apart && period - time > 1e-9 * period) {
        kept[count++] = time;
      }
    }
    kept[count++] = period;
    return Arrays.copyOf(kept, count);
  }

  /** Whether a file is one that {@link #text} made. */
  public static boolean isOurs(Path file) {
    try (var lines = Files.lines(file)) {
      return lines.limit(1).anyMatch(line -> line.startsWith(OUR_HEADING));
    } catch (IOException | UncheckedIOException e) {
      return false; // not even text
    }
  }
}
