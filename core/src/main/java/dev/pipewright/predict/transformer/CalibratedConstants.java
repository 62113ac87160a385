package dev.pipewright.predict.transformer;

import dev.pipewright.units.Check;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Constants that were fitted to published step times, by name: {@code eps.h100.half}. None belongs
 * to a network or to a single run. With them come intervals of their errors, by class of runs, and
 * the range of hidden sizes that each framework and chip was fitted on.
 *
 * @param values by name; a name's more special forms go first, like {@code ew.mcore} before {@code
 *     ew}
 * @param errors intervals by class of runs
 * @param ranges hidden sizes by {@code FRAMEWORK | CHIP | PRECISION dense} or {@code … moe}
 */
public record CalibratedConstants(
    Map<String, Double> values, Map<String, Errors> errors, Map<String, HiddenRange> ranges) {
  /**
   * Quantiles of ln(measured / predicted).
   *
   * @param inside the fitted range
   * @param outside it
   * @param difference the most that the errors of two layouts of one network on one machine lie
   *     apart, for 90 % of pairs
   */
  public record Errors(LogInterval inside, LogInterval outside, double difference) {
    public Errors {
      Check.that(difference >= 0, "the difference of errors is negative: %s", difference);
    }
  }

  /** From {@code low} to {@code high}, both natural logarithms of a ratio. */
  public record LogInterval(double low, double high) {
    public LogInterval {
      Check.that(low <= high, "the interval from %s to %s is empty", low, high);
    }

    LogInterval times(double factor) {
      return new LogInterval(factor * low, factor * high);
    }
  }

  /** Hidden sizes of the fitted networks. */
  public record HiddenRange(int least, int most) {
    HiddenRange with(HiddenRange that) {
      return new HiddenRange(Math.min(least, that.least), Math.max(most, that.most));
    }
  }

  /** Where a run lies with respect to what was fitted. */
  public enum Coverage {
    INSIDE,
    /** The framework and the chip occur, but not with such a precision, layer and hidden size. */
    EXTRAPOLATED,
    /** The chip or the framework does not occur. */
    UNSEEN
  }

  private static final double WIDER = 1.5; // for a chip or framework without rows

  public CalibratedConstants {
    values = Map.copyOf(values);
    errors = Map.copyOf(errors);
    ranges = Map.copyOf(ranges);
  }

  /** The same with {@code other} values under their names, intervals and ranges kept. */
  public CalibratedConstants with(Map<String, Double> other) {
    Map<String, Double> all = new HashMap<>(values);
    all.putAll(other);
    return new CalibratedConstants(all, errors, ranges);
  }

  /** The value of the first name that exists. */
  double get(String... names) {
    for (String name : names) {
      @Nullable Double value = values.get(name);
      if (value != null) {
        return value;
      }
    }
    throw new IllegalArgumentException("no constant is called " + String.join(" or ", names));
  }

  double orOne(String name) {
    return values.getOrDefault(name, 1.0);
  }

  /** Where a run lies. */
  Coverage coverage(TransformerRun run, boolean mixtures) {
    @Nullable HiddenRange range = ranges.get(rangeOf(run, mixtures));
    if (!part(0).contains(run.software().framework().word())
        || !part(1).contains(run.machine().chip())) {
      return Coverage.UNSEEN;
    }
    int hidden = run.shape().hidden();
    boolean inside = range != null && range.least <= hidden && hidden <= range.most;
    return inside ? Coverage.INSIDE : Coverage.EXTRAPOLATED;
  }

  /**
   * The key of the range that {@code run} belongs to: its framework, chip, precision and layers.
   */
  public static String rangeOf(TransformerRun run) {
    return rangeOf(run, TransformerSizes.of(run.shape()).hasMixtures());
  }

  /** The ranges that hold {@code runs} and no others. */
  public static Map<String, HiddenRange> rangesOf(List<TransformerRun> runs) {
    Map<String, HiddenRange> ranges = new HashMap<>();
    for (TransformerRun run : runs) {
      int hidden = run.shape().hidden();
      ranges.merge(rangeOf(run), new HiddenRange(hidden, hidden), HiddenRange::with);
    }
    return ranges;
  }

  private static String rangeOf(TransformerRun run, boolean mixtures) {
    return key(
        run.software().framework().word(),
        run.machine().chip(),
        run.formats().products().name().toLowerCase(Locale.ROOT),
        mixtures ? "moe" : "dense");
  }

  /**
   * The class of runs whose interval holds for {@code run}: {@code moe}, a framework that has one
   * of its own, or else {@code dense}.
   */
  public String errorClass(TransformerRun run) {
    return errorClass(run, TransformerSizes.of(run.shape()).hasMixtures());
  }

  private String errorClass(TransformerRun run, boolean mixtures) {
    String framework = run.software().framework().word();
    return mixtures ? "moe" : errors.containsKey(framework) ? framework : "dense";
  }

  /**
   * The ratio of two layouts' predicted seconds up to which measurements may reverse their order;
   * at least 1.
   *
   * @param run in one of them
   */
  public double indistinct(TransformerRun run) {
    boolean mixtures = TransformerSizes.of(run.shape()).hasMixtures();
    double wider = coverage(run, mixtures) == Coverage.UNSEEN ? WIDER : 1;
    return Math.exp(wider * errors(run, mixtures).difference);
  }

  private Errors errors(TransformerRun run, boolean mixtures) {
    String type = errorClass(run, mixtures);
    @Nullable Errors found = errors.get(type);
    if (found == null) {
      throw new IllegalArgumentException("no intervals are calibrated for " + type);
    }
    return found;
  }

  /** Natural logarithms of measured over predicted seconds that 90 % of runs lie between. */
  LogInterval interval(TransformerRun run, boolean mixtures) {
    Errors found = errors(run, mixtures);
    return switch (coverage(run, mixtures)) {
      case INSIDE -> found.inside;
      case EXTRAPOLATED -> found.outside;
      case UNSEEN -> found.outside.times(WIDER);
    };
  }

  /** The key of a range. */
  public static String key(String framework, String chip, String precision, String layers) {
    return framework + " | " + chip + " | " + precision + " " + layers;
  }

  private Set<String> part(int index) {
    return ranges.keySet().stream()
        .map(key -> key.split(" \\| ", -1)[index])
        .collect(Collectors.toSet());
  }
}
