package dev.pipewright.formats.trace;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.json.JsonFile;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads the trace that PyTorch's profiler exports ({@code export_chrome_trace}, by Kineto), plain
 * or gzipped, in one pass. Times are microseconds, whole in older files and with decimals in newer
 * ones; those of ROCm have the same keys.
 */
final class KinetoReader {
  private static final int BUFFER = 1 << 16;
  private static final int GZIP = 0x1f;
  private static final double NANOSECONDS = 1e3; // of a microsecond
  private static final Set<String> OPS = Set.of("cpu_op", "operator");
  private static final Set<String> ANNOTATIONS = Set.of("user_annotation");
  private static final Set<String> CALLS =
      Set.of("cuda_runtime", "cuda_driver", "runtime", "hip_runtime", "xpu_runtime");
  private static final Set<String> KERNELS = Set.of("kernel");
  private static final Set<String> COPIES = Set.of("gpu_memcpy", "gpu_memset", "memcpy", "memset");
  private static final String MODULE = "nn.Module: ";

  private final Path file;
  private final JsonParser parser;
  private final KinetoEvents events = new KinetoEvents();
  private final Event event = new Event();
  private boolean traced;

  private KinetoReader(Path file, JsonParser parser) {
    this.file = file;
    this.parser = parser;
  }

  /** What is read of an event before it is known which kind it is. */
  private static final class Event {
    String phase = "";
    String category = "";
    String name = "";
    String process = "";
    String thread = "";
    String stream = "";
    String dimensions = "";
    String type = "";
    long start;
    long duration;
    long correlation;
    long external;
    long sequence;
    long elements;
    long group;

    void clear() {
      phase = category = name = process = thread = stream = dimensions = type = "";
      start = duration = elements = 0;
      correlation = external = sequence = group = KinetoEvents.NONE;
    }
  }

  /**
   * Reads a file.
   *
   * @throws BadInputException where it is no such trace, or ends too early
   */
  static KinetoEvents read(Path file) {
    try (InputStream in = new BufferedInputStream(InputFile.open(file), BUFFER)) {
      in.mark(2);
      boolean zipped = in.read() == GZIP;
      in.reset();
      InputStream plain = zipped ? new GZIPInputStream(in, BUFFER) : in;
      return JsonFile.read(file, plain, parser -> new KinetoReader(file, parser).root());
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }

  private KinetoEvents root() {
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      throw foreign();
    }
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String key = parser.currentName();
      JsonToken value = parser.nextToken();
      if (key.equals("traceEvents") && value == JsonToken.START_ARRAY) {
        traced = true;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          event();
        }
      } else if (key.equals("distributedInfo") && value == JsonToken.START_OBJECT) {
        distributed();
      } else if (key.equals("deviceProperties") && value == JsonToken.START_ARRAY) {
        devices();
      } else {
        parser.skipChildren();
      }
    }
    if (!traced) {
      throw foreign();
    }
    return events;
  }

  private BadInputException foreign() {
    return BadInputException.in(
        file,
        "is no trace of PyTorch's profiler, as it has no \"traceEvents\"; give what"
            + " export_chrome_trace wrote, or a folder of --dump_pp_data");
  }

  private void distributed() {
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String key = parser.currentName();
      JsonToken value = parser.nextToken();
      if (value == JsonToken.VALUE_NUMBER_INT && key.equals("rank")) {
        events.rank = parser.getIntValue();
      } else if (value == JsonToken.VALUE_NUMBER_INT && key.equals("world_size")) {
        events.worldSize = parser.getIntValue();
      } else {
        parser.skipChildren();
      }
    }
  }

  private void devices() {
    int depth = 1;
    while (depth > 0) {
      JsonToken token = parser.nextToken();
      depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
      if (token == JsonToken.PROPERTY_NAME && parser.currentName().equals("name")) {
        parser.nextToken();
        events.device = events.device.isEmpty() ? parser.getString() : events.device;
      }
    }
  }

  private void event() {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw BadInputException.at(
          file,
          Math.max(1, parser.currentTokenLocation().getLineNr()),
          "an event is no object; give what export_chrome_trace wrote");
    }
    event.clear();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String key = parser.currentName();
      JsonToken value = parser.nextToken();
      if (value.isStructStart() && !key.equals("args")) {
        parser.skipChildren();
        continue;
      }
      switch (key) {
        case "ph" -> event.phase = parser.getString();
        case "cat" -> event.category = parser.getString();
        case "name" -> event.name = parser.getString();
        case "pid" -> event.process = parser.getString();
        case "tid" -> event.thread = parser.getString();
        case "ts" -> event.start = time(value);
        case "dur" -> event.duration = time(value);
        case "args" -> arguments(value);
        default -> {} // a scalar
      }
    }
    if (event.phase.equals("X")) {
      keep();
    }
  }

  private long time(JsonToken token) {
    return switch (token) {
      case VALUE_NUMBER_INT -> parser.getLongValue() * (long) NANOSECONDS;
      case VALUE_NUMBER_FLOAT -> Math.round(parser.getDoubleValue() * NANOSECONDS);
      default -> 0;
    };
  }

  private void arguments(JsonToken token) {
    if (token != JsonToken.START_OBJECT) {
      parser.skipChildren();
      return;
    }
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String key = parser.currentName();
      JsonToken value = parser.nextToken();
      switch (key) {
        case "correlation" -> event.correlation = whole(value);
        case "External id", "external id" -> event.external = whole(value);
        case "Sequence number" -> event.sequence = whole(value);
        case "stream" -> event.stream = parser.getString();
        case "In msg nelems" -> event.elements = Math.max(event.elements, whole(value));
        case "Out msg nelems" -> event.elements = Math.max(event.elements, whole(value));
        case "Group size" -> event.group = whole(value);
        case "dtype" -> event.type = parser.getString();
        case "Input Dims", "Input dims" -> event.dimensions = structure(value);
        case "Input type" -> event.type = structure(value);
        default -> parser.skipChildren();
      }
    }
  }

  private long whole(JsonToken token) {
    if (token != JsonToken.VALUE_NUMBER_INT) {
      parser.skipChildren();
      return KinetoEvents.NONE;
    }
    long value = parser.getLongValue();
    return value < 0 || value > Integer.MAX_VALUE ? KinetoEvents.NONE : value;
  }

  /** A list of lists as text without blanks. */
  private String structure(JsonToken first) {
    if (!first.isStructStart()) {
      return first.isScalarValue() ? parser.getString() : "";
    }
    StringBuilder text = new StringBuilder("[");
    for (int depth = 1; depth > 0; ) {
      JsonToken token = parser.nextToken();
      if (token.isStructEnd()) {
        depth--;
        text.append(']');
        continue;
      }
      char last = text.charAt(text.length() - 1);
      text.append(last == '[' ? "" : ",");
      if (token.isStructStart()) {
        depth++;
        text.append('[');
      } else {
        text.append(parser.getString());
      }
    }
    return text.toString();
  }

  private void keep() {
    String category = event.category.toLowerCase(Locale.ROOT);
    if (OPS.contains(category)) {
      host(KinetoEvents.Host.OP, event.name);
    } else if (ANNOTATIONS.contains(category)) {
      host(KinetoEvents.Host.ANNOTATION, event.name);
    } else if (category.equals("python_function")) {
      if (event.name.startsWith(MODULE)) {
        host(KinetoEvents.Host.MODULE, event.name.substring(MODULE.length()));
      }
    } else if (CALLS.contains(category)) {
      events.launchCorrelation.add(Math.max(0, event.correlation));
      events.launchThread.add(thread());
      events.launchStart.add(event.start);
    } else if (KERNELS.contains(category) || COPIES.contains(category)) {
      work(COPIES.contains(category));
    }
  }

  private int thread() {
    return events.threads.number(event.process + "/" + event.thread);
  }

  private void host(KinetoEvents.Host kind, String name) {
    events.hostStart.add(event.start);
    events.hostEnd.add(event.start + event.duration);
    events.hostThread.add(thread());
    events.hostName.add(events.names.number(name));
    events.hostKind.add(kind.code);
    events.hostSequence.add(event.sequence);
    String shapes = event.dimensions.isEmpty() ? "" : event.dimensions + " " + event.type;
    events.hostDimensions.add(events.dimensions.number(shapes));
    events.hostExternal.add(Math.max(0, event.external));
  }

  private void work(boolean copies) {
    String stream = event.stream.isEmpty() ? event.thread : event.stream;
    events.workStart.add(event.start);
    events.workEnd.add(event.start + event.duration);
    events.workStream.add(events.streams.number(stream));
    events.workName.add(events.names.number(event.name));
    events.workCorrelation.add(event.correlation);
    events.workExternal.add(event.external);
    events.workBytes.add(event.elements * ElementBytes.of(event.type));
    events.workGroup.add(event.group);
    events.workCopies.add(copies ? 1 : 0);
  }
}
