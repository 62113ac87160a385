package dev.pipewright.formats.paradl;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.units.Range;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A layer's line of a ParaDL network: {@code NAME|CxWxH|CxFxKxK|FxWxH|seconds}, with a third extent
 * in three dimensions.
 *
 * @param in channels and extents of what it reads
 * @param filter channels read, channels written, kernel; zeros as {@link Kind} says
 * @param out channels and extents of what it writes
 * @param windows how its kernel moves, one for each axis; empty where it has none
 * @param seconds of one sample, all passes; 0 where the line does not say
 */
record ParadlLayer(
    BarLine line,
    String name,
    Kind kind,
    List<Integer> in,
    List<Integer> filter,
    List<Integer> out,
    List<SlidingWindow> windows,
    double seconds) {
  /** What the zeros of a filter say. */
  enum Kind {
    /** A convolution or a fully connected layer: no zero. */
    WEIGHTED,
    /** {@code CxCx0x0}: has no kernel. */
    ELEMENTWISE,
    /** {@code 0x0xKxK}: has no weights. */
    POOLING
  }

  private static final Pattern EXTENT = Pattern.compile("\\d{1,7}");
  private static final Pattern NUMBER = Pattern.compile("(?<=.)[-_.\\d]+$");
  private static final int LONGEST_NAME = 200;
  private static final int LONGEST_EXTENT = 1_000_000;
  private static final double MOST_ELEMENTS = 1e12;
  private static final String FORM =
      "a layer reads \"CONV1|3x226x226|3x96x11x11|96x54x54|0.0006\", the seconds may be missing";

  /** {@code axes} is how many extents a shape has after its channels. */
  static ParadlLayer parse(BarLine line, int axes) {
    int fields = line.fields().size();
    if (fields < 4 || fields > 5) {
      throw line.mistake("has " + fields + " fields between its bars; " + FORM);
    }
    String name = line.field(0);
    if (name.isEmpty()) {
      throw line.mistake("the layer has no name; " + FORM);
    }
    if (name.length() > LONGEST_NAME) {
      throw line.mistake(
          "the name \"" + BarLine.shortened(name) + "\" is too long; write at most 200 characters");
    }
    List<Integer> in = extents(line, "input", line.field(1), 1, axes + 1);
    List<Integer> filter = extents(line, "filter", line.field(2), 0, axes + 2);
    List<Integer> out = extents(line, "output", line.field(3), 1, axes + 1);
    double seconds =
        fields == 4 ? 0 : line.amount(line.field(4), "number of seconds", Range.SECONDS);
    Kind kind = kind(line, name, filter);
    checkChannels(line, name, kind, in, filter, out);
    List<SlidingWindow> windows =
        kind == Kind.ELEMENTWISE ? List.of() : windows(line, name, in, filter, out);
    return new ParadlLayer(line, name, kind, in, filter, out, windows, seconds);
  }

  /** {@code 3x226x226}: so many whole numbers from {@code least} on. */
  static List<Integer> extents(BarLine line, String what, String text, int least, int numbers) {
    List<Integer> extents = new ArrayList<>();
    double elements = 1;
    for (String part : text.split("x", -1)) {
      String digits = part.strip();
      int extent = EXTENT.matcher(digits).matches() ? Integer.parseInt(digits) : -1;
      if (extent < least || extent > LONGEST_EXTENT) {
        throw line.mistake(
            "the %s \"%s\" has \"%s\" in it; write whole numbers from %d to 1000000 with x between"
                    .formatted(what, BarLine.shortened(text), BarLine.shortened(part), least)
                + " them");
      }
      extents.add(extent);
      elements *= extent;
    }
    if (extents.size() != numbers) {
      throw line.mistake(
          "the %s \"%s\" has %d numbers where the Input line asks for %d; give channels and extents"
              .formatted(what, BarLine.shortened(text), extents.size(), numbers));
    }
    if (elements > MOST_ELEMENTS) {
      throw line.mistake(
          "the " + what + " " + text + " has more than 10^12 numbers; write a smaller layer");
    }
    return List.copyOf(extents);
  }

  private static Kind kind(BarLine line, String name, List<Integer> filter) {
    List<Integer> kernel = filter.subList(2, filter.size());
    boolean channels = filter.get(0) > 0 && filter.get(1) > 0;
    if (channels && !kernel.contains(0)) {
      return Kind.WEIGHTED;
    }
    if (channels && kernel.stream().allMatch(extent -> extent == 0)) {
      return Kind.ELEMENTWISE;
    }
    if (filter.get(0) == 0 && filter.get(1) == 0 && !kernel.contains(0)) {
      return Kind.POOLING;
    }
    throw line.mistake(
        name
            + " has the filter "
            + text(filter)
            + "; zeros are for the kernel of an element-wise layer (CxCx0x0) or for the channels"
            + " of a pooling (0x0xKxK)");
  }

  private static void checkChannels(
      BarLine line,
      String name,
      Kind kind,
      List<Integer> in,
      List<Integer> filter,
      List<Integer> out) {
    if (kind == Kind.ELEMENTWISE && !in.equals(out)) {
      throw line.mistake(
          "%s is element-wise, yet turns %s into %s; write the same shape twice"
              .formatted(name, text(in), text(out)));
    }
    if (kind == Kind.POOLING && !in.get(0).equals(out.get(0))) {
      throw line.mistake(
          "%s is a pooling, yet turns %d channels into %d; a pooling keeps them"
              .formatted(name, in.get(0), out.get(0)));
    }
    if (kind != Kind.POOLING
        && !(filter.get(0).equals(in.get(0)) && filter.get(1).equals(out.get(0)))) {
      throw line.mistake(
          "%s turns %d channels into %d, yet its filter is %s; write %dx%d and the kernel"
              .formatted(name, in.get(0), out.get(0), text(filter), in.get(0), out.get(0)));
    }
  }

  private static List<SlidingWindow> windows(
      BarLine line, String name, List<Integer> in, List<Integer> filter, List<Integer> out) {
    List<SlidingWindow> windows = new ArrayList<>();
    for (int axis = 1; axis < in.size(); axis++) {
      int kernel = filter.get(axis + 1);
      int read = in.get(axis);
      int written = out.get(axis);
      windows.add(
          SlidingWindow.between(read, kernel, written)
              .orElseThrow(() -> noWindow(line, name, read, kernel, written)));
    }
    return List.copyOf(windows);
  }

  private static BadInputException noWindow(
      BarLine line, String name, int in, int kernel, int out) {
    if (kernel > in) {
      return line.mistake(
          "%s has a kernel of %d over an extent of %d; a kernel is no larger than its input"
              .formatted(name, kernel, in));
    }
    return line.mistake(
        "%s turns an extent of %d into %d, which a kernel of %d does with no stride and no padding"
                .formatted(name, in, out, kernel)
            + " up to half of it; correct one of the three");
  }

  /** Throws unless this layer reads {@code written}, the output of {@code writer}. */
  void checkReads(List<Integer> written, String writer) {
    if (!in.equals(written)) {
      throw line.mistake(
          "%s reads %s, yet %s before it gives %s; a layer reads what the line before it writes"
              .formatted(name, text(in), writer, text(written)));
    }
  }

  /** What an element-wise layer computes: its name in small letters without its number. */
  String function() {
    return NUMBER.matcher(name.toLowerCase(Locale.ROOT)).replaceFirst("");
  }

  boolean normalizes() {
    return kind == Kind.ELEMENTWISE && (function().startsWith("bn") || function().contains("norm"));
  }

  boolean adds() {
    return kind == Kind.ELEMENTWISE && (function().equals("add") || function().equals("sum"));
  }

  boolean averages() {
    return kind == Kind.POOLING && function().startsWith("a");
  }

  /** Whether the filter covers all of the input and is applied once. */
  boolean isFullyConnected() {
    return kind == Kind.WEIGHTED
        && filter.subList(2, filter.size()).equals(in.subList(1, in.size()))
        && out.subList(1, out.size()).stream().allMatch(extent -> extent == 1);
  }

  long elementsIn() {
    return product(in);
  }

  long elementsOut() {
    return product(out);
  }

  /** C · F · K · K: no biases, and none where there is no kernel. */
  long parameters() {
    return product(filter);
  }

  long kernelElements() {
    return product(filter.subList(2, filter.size()));
  }

  private static long product(List<Integer> extents) {
    return extents.stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
  }

  static String text(List<Integer> extents) {
    return extents.stream().map(String::valueOf).collect(Collectors.joining("x"));
  }
}
