package dev.pipewright.formats.schedule;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.JsonFile;
import dev.pipewright.schedule.Op.Pass;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.stream.DoubleStream;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads the answer of {@code schedule --json}, which {@link ScheduleJson} writes, with the place of
 * every op. It needs nothing but {@code ranks}: where {@code micro_batches} or {@code placement}
 * are missing, they are as the ops have them. Op by op: files may be large.
 */
public final class ScheduleJsonReader {
  private static final String FORM = "; write ops like [\"F\", micro-batch, stage, start, end]";
  private static final int MOST_STAGES = 1 << 16;
  private static final int MOST_MICRO_BATCHES = 1 << 20;
  private static final int MOST_KEYS = 100_000; // of one object
  private static final int MOST_PLACED = 1 << 18; // stages of all chains
  private static final Map<String, Pass> PASSES = new LinkedHashMap<>();

  static {
    for (Pass pass : Pass.values()) {
      PASSES.put(ScheduleJson.word(pass), pass);
    }
  }

  private final Path file;
  private final JsonParser parser;
  private final ScheduleAssembly schedule;

  private ScheduleJsonReader(Path file, JsonParser parser) {
    this.file = file;
    this.parser = parser;
    this.schedule = new ScheduleAssembly(file);
  }

  /** Throws {@link BadInputException} when the file is not a schedule. */
  public static ScheduleFile read(Path file) {
    return JsonFile.read(file, parser -> new ScheduleJsonReader(file, parser).schedule());
  }

  private ScheduleFile schedule() {
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      throw wrong("is no object; give what `schedule --json` wrote");
    }
    members(this::member);
    if (parser.nextToken() != null) {
      throw wrong("a second value follows the first; a file holds one object");
    }
    return schedule.finished();
  }

  private void member(String key) {
    switch (key) {
      case "schedule" -> schedule.name = text(key);
      case "stages" -> schedule.ranks = stated(key, 1, MOST_STAGES);
      case "micro_batches" -> schedule.microBatches = stated(key, 1, Integer.MAX_VALUE);
      case "chain_micro_batches" -> schedule.chainMicroBatches = stated(key, 1, MOST_MICRO_BATCHES);
      case "chunks" -> schedule.chunks = OptionalInt.of(count(key, 1, MOST_STAGES));
      case "makespan",
          "idle_share",
          "stage_span_idle_share",
          "stretched_share",
          "peak_activations" ->
          figure(key);
      case "memory_cap" -> memoryCap();
      case "placement" -> placement();
      case "ranks" -> ranks();
      default -> skip();
    }
  }

  /** The members of an object, none of them twice. */
  private void members(Consumer<String> each) {
    Map<String, Integer> lines = new HashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String key = parser.currentName();
      Integer first = lines.putIfAbsent(key, line());
      if (first != null) {
        throw wrong(
            "the key \"%s\" stands twice, first in line %d; keep one".formatted(key, first));
      }
      if (lines.size() > MOST_KEYS) {
        throw wrong("an object holds more keys than can be read; take at most " + MOST_KEYS);
      }
      parser.nextToken();
      each.accept(key);
    }
  }

  /** What is not of a schedule, but must be JSON too. */
  private void skip() {
    if (parser.currentToken() == JsonToken.START_OBJECT) {
      members(key -> skip());
    } else if (parser.currentToken() == JsonToken.START_ARRAY) {
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        skip();
      }
    }
  }

  private OptionalInt stated(String key, int least, int most) {
    int count = count(key, least, most);
    schedule.stated.add(key, line(), column(), count);
    return OptionalInt.of(count);
  }

  private void figure(String key) {
    int line = line();
    int column = column();
    boolean list = key.equals("peak_activations");
    double[] values = list ? list(key, () -> finite(key)) : new double[] {finite(key)};
    schedule.stated.add(key, line, column, values);
  }

  private void memoryCap() {
    schedule.memoryCapLine = line();
    boolean list = parser.currentToken() == JsonToken.START_ARRAY;
    double[] caps = list ? list("memory_cap", this::cap) : new double[] {amount("memory_cap")};
    schedule.memoryCap = Optional.of(caps);
  }

  /** That of one rank; null where it has none. */
  private double cap() {
    boolean none = parser.currentToken() == JsonToken.VALUE_NULL;
    return none ? Double.POSITIVE_INFINITY : amount("memory_cap");
  }

  private double[] list(String key, DoubleSupplier value) {
    begin(key, "holds a number for each rank");
    DoubleStream.Builder values = DoubleStream.builder();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      values.add(value.getAsDouble());
    }
    return values.build().toArray();
  }

  private void placement() {
    schedule.placementLine = line();
    int placed = 0;
    begin("placement", "lists the ranks of each chain's stages, like [[0, 1, 2]]");
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      begin("placement", "lists the ranks of each chain's stages, like [[0, 1, 2]]");
      placed = placed(placed); // a chain without stages takes room, too
      List<Integer> chain = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        chain.add(count("placement", 0, MOST_STAGES));
        placed = placed(placed);
      }
      schedule.placement.add(chain);
    }
  }

  private int placed(int before) {
    if (before == MOST_PLACED) {
      throw wrong("placement holds more stages than can be checked; take at most " + MOST_PLACED);
    }
    return before + 1;
  }

  private void begin(String key, String remedy) {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw wrong("%s is no list; it %s".formatted(key, remedy));
    }
  }

  private void ranks() {
    begin("ranks", "lists each rank's ops");
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      begin("a rank", "lists its ops");
      schedule.rank(line());
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        op();
      }
    }
  }

  private void op() {
    int line = line();
    int column = column();
    openOp();
    String word = opWord();
    if (word.equals("FB")) {
      pair(line, column);
    } else {
      Pass pass = pass(word);
      int microBatch = next("micro-batch", MOST_MICRO_BATCHES);
      int stage = next("stage", MOST_STAGES);
      double start = nextSeconds("start");
      double end = nextSeconds("end");
      int chain = chain();
      check(start, end, line, column);
      schedule.op(pass, microBatch, stage, chain, start, end, line, column);
    }
  }

  /** Ops that run together: all but the last are joined with the next. */
  private void pair(int line, int column) {
    double start = nextSeconds("start");
    double end = nextSeconds("end");
    parser.nextToken();
    check(start, end, line, column);
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw wrong("[\"FB\", start, end, …] names no ops that run together" + FORM);
    }
    int size = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      int opLine = line();
      int opColumn = column();
      openOp();
      Pass pass = pass(opWord());
      int microBatch = next("micro-batch", MOST_MICRO_BATCHES);
      int stage = next("stage", MOST_STAGES);
      int chain = chain();
      if (size > 0) {
        schedule.join();
      }
      schedule.op(pass, microBatch, stage, chain, start, end, opLine, opColumn);
      size++;
    }
    if (size == 0) {
      throw wrong("[\"FB\", start, end, []] holds no ops that run together; name them");
    }
    closeOp();
  }

  private void openOp() {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw wrong("%s is no op%s".formatted(shown(), FORM));
    }
  }

  private String opWord() {
    if (parser.nextToken() != JsonToken.VALUE_STRING) {
      throw wrong("%s is no kind of op%s".formatted(shown(), FORM));
    }
    return parser.getString();
  }

  private Pass pass(String word) {
    Pass pass = PASSES.get(word);
    if (pass == null) {
      throw wrong(
          "unknown op \"%s\"; one of %s, FB".formatted(word, String.join(", ", PASSES.keySet())));
    }
    return pass;
  }

  private int next(String what, int below) {
    parser.nextToken();
    return count(what, 0, below - 1);
  }

  private double nextSeconds(String what) {
    parser.nextToken();
    return amount(what);
  }

  private void check(double start, double end, int line, int column) {
    if (end < start) {
      throw BadInputException.at(
          file,
          line,
          column,
          "an op ends at %s s, before it starts at %s s; swap them".formatted(end, start));
    }
  }

  /** The chain of an op, where it says one; then its end. */
  private int chain() {
    if (parser.nextToken() == JsonToken.END_ARRAY) {
      return 0;
    }
    int chain = count("direction", 0, MOST_STAGES - 1);
    closeOp();
    return chain;
  }

  private void closeOp() {
    if (parser.nextToken() != JsonToken.END_ARRAY) {
      throw wrong("%s is one value too many%s".formatted(shown(), FORM));
    }
  }

  private String text(String key) {
    if (parser.currentToken() != JsonToken.VALUE_STRING) {
      throw wrong("%s is %s; expected text (in quotes)".formatted(key, shown()));
    }
    return parser.getString();
  }

  private int count(String what, int least, int most) {
    boolean whole = parser.currentToken() == JsonToken.VALUE_NUMBER_INT;
    String digits = whole ? parser.getString() : "";
    long number = whole && digits.length() <= 11 ? parser.getLongValue() : -1;
    if (number < least || number > most) {
      throw wrong(
          "%s is %s; expected a whole number from %d to %d".formatted(what, shown(), least, most));
    }
    return (int) number;
  }

  private double amount(String what) {
    double value = number();
    if (!(value >= 0 && value < Double.POSITIVE_INFINITY)) {
      throw wrong("%s is %s; expected a finite number >= 0".formatted(what, shown()));
    }
    return value;
  }

  private double finite(String what) {
    double value = number();
    if (!Double.isFinite(value)) {
      throw wrong("%s is %s; expected a finite number".formatted(what, shown()));
    }
    return value;
  }

  /** NaN where there is none. */
  private double number() {
    boolean number =
        parser.currentToken() == JsonToken.VALUE_NUMBER_INT
            || parser.currentToken() == JsonToken.VALUE_NUMBER_FLOAT;
    return number ? parser.getDoubleValue() : Double.NaN;
  }

  /** The value where the parser stands, as far as it can be shown. */
  private String shown() {
    String text =
        switch (parser.currentToken()) {
          case START_ARRAY, END_ARRAY -> "a list";
          case START_OBJECT, END_OBJECT -> "an object";
          case null -> "nothing";
          default -> String.valueOf(parser.getString());
        };
    if (parser.currentToken() == JsonToken.END_ARRAY) {
      return "missing";
    }
    return text.length() <= 40 ? text : text.substring(0, 37) + "...";
  }

  private int line() {
    return Math.max(1, parser.currentTokenLocation().getLineNr());
  }

  private int column() {
    return Math.max(1, parser.currentTokenLocation().getColumnNr());
  }

  private BadInputException wrong(String mistake) {
    return BadInputException.at(file, line(), column(), mistake);
  }
}
