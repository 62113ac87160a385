package dev.pipewright.formats.paradl;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Reads the switches of ParaDL's oracle ({@code .lc}): to which layers a strategy applies. One line
 * for each layer of the network, in its order: {@code CONV1|1} or, with its number from 0, {@code 0
 * CONV1 |1}.
 */
public final class ParadlSwitches {
  private static final Pattern NUMBERED = Pattern.compile("(\\d+)\\s+(\\S.*)");
  private static final Pattern SUFFIX = Pattern.compile("\\.\\d+");

  private ParadlSwitches() {}

  /**
   * Reads for each layer of {@code graph} whether the strategy applies to it; never to an input,
   * which has no line. Throws {@link BadInputException} unless the lines are those of the graph's
   * layers.
   */
  public static boolean[] read(Path file, LayerGraph graph) {
    List<BarLine> lines = BarLine.all(file, "switches of a ParaDL strategy");
    int[] layers =
        IntStream.range(0, graph.size())
            .filter(layer -> !(graph.layer(layer).operator() instanceof Operator.Input))
            .toArray();
    boolean[] applies = new boolean[graph.size()];
    for (int i = 0; i < lines.size(); i++) {
      if (i == layers.length) {
        throw lines
            .get(i)
            .mistake(
                "%s has only %d layers; remove the lines behind the last"
                    .formatted(graph.name(), layers.length));
      }
      applies[layers[i]] = applies(lines.get(i), i, graph.layer(layers[i]).name());
    }
    if (lines.size() < layers.length) {
      throw lines
          .get(lines.size() - 1)
          .mistake(
              "the file ends after %d of the %d layers of %s; the next is %s"
                  .formatted(
                      lines.size(),
                      layers.length,
                      graph.name(),
                      graph.layer(layers[lines.size()]).name()));
    }
    return applies;
  }

  private static boolean applies(BarLine line, int index, String layer) {
    String name = line.field(0);
    Matcher numbered = NUMBERED.matcher(name);
    if (numbered.matches()) {
      if (!numbered.group(1).equals(String.valueOf(index))) {
        throw line.mistake(
            "the number %s is not this layer's; layers count from 0, write %d or none"
                .formatted(BarLine.shortened(numbered.group(1)), index));
      }
      name = numbered.group(2);
    }
    if (!isCalled(layer, name)) {
      throw line.mistake(
          "\"%s\" stands where the network has %s; write the layers in the network's order"
              .formatted(BarLine.shortened(name), layer));
    }
    if (line.fields().size() != 2 || !line.field(1).matches("[01]")) {
      throw line.mistake(
          name + " is neither on nor off; write \"" + name + "|1\" or \"" + name + "|0\"");
    }
    return line.field(1).equals("1");
  }

  /** Whether the layer has this name, or had it before a number made it unique. */
  private static boolean isCalled(String layer, String name) {
    return layer.equals(name)
        || (layer.startsWith(name) && SUFFIX.matcher(layer.substring(name.length())).matches());
  }
}
