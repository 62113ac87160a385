package dev.pipewright.formats.paradl;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The layers of a ParaDL network as a chain of operators after an {@link Operator.Input}.
 *
 * <p>Arithmetic and memory are counted as for the networks of the zoo, without biases. A layer
 * keeps its output where the next one needs it again for its gradient (weights, normalisation,
 * maximum) and where none follows; element-wise functions keep their own, having overwritten what
 * they read; a sum needs nothing; a normalisation keeps a mean and a deviation of each channel.
 */
final class ParadlGraph {
  private ParadlGraph() {}

  static LayerGraph of(String model, Shape input, List<ParadlLayer> lines) {
    List<String> names = names(lines);
    List<Layer> layers = new ArrayList<>();
    long elements = input.elements();
    layers.add(
        new Layer(
            names.get(0),
            new Operator.Input(),
            Optional.of(input),
            0,
            elements,
            elements,
            Work.NONE));
    for (int i = 0; i < lines.size(); i++) {
      ParadlLayer line = lines.get(i);
      layers.add(
          new Layer(
              names.get(i + 1),
              operator(line),
              Optional.of(new Shape(line.out())),
              line.parameters(),
              line.elementsOut(),
              kept(line, i + 1 < lines.size() ? lines.get(i + 1) : null),
              work(line, i == 0)));
    }
    return LayerGraph.chain(model, layers);
  }

  /** The input's name, then one for each line; where a name repeats, .2, .3 … follow it. */
  private static List<String> names(List<ParadlLayer> lines) {
    List<String> names = new ArrayList<>(List.of("input"));
    Set<String> taken = new HashSet<>(names);
    Map<String, Integer> count = new HashMap<>();
    for (ParadlLayer line : lines) {
      String name = line.name();
      while (!taken.add(name)) {
        name = line.name() + "." + (1 + count.merge(line.name(), 1, Integer::sum));
      }
      names.add(name);
    }
    return names;
  }

  private static Operator operator(ParadlLayer line) {
    int channels = line.in().get(0);
    return switch (line.kind()) {
      case WEIGHTED ->
          line.isFullyConnected() && line.elementsIn() <= Integer.MAX_VALUE
              ? new Operator.Linear((int) line.elementsIn(), line.out().get(0), false)
              : new Operator.Convolution(
                  channels,
                  line.out().get(0),
                  along(line, SlidingWindow::kernel),
                  along(line, SlidingWindow::stride),
                  along(line, SlidingWindow::padding),
                  Collections.nCopies(line.windows().size(), 1),
                  1,
                  false);
      case ELEMENTWISE ->
          line.normalizes()
              ? new Operator.Normalization(Operator.Normalization.Kind.BATCH, channels)
              : new Operator.Elementwise(line.function());
      case POOLING ->
          new Operator.Pooling(
              line.averages() ? Operator.Pooling.Kind.AVERAGE : Operator.Pooling.Kind.MAX,
              along(line, SlidingWindow::kernel),
              along(line, SlidingWindow::stride),
              along(line, SlidingWindow::padding));
    };
  }

  private static List<Integer> along(ParadlLayer line, ToIntFunction<SlidingWindow> value) {
    return line.windows().stream().map(value::applyAsInt).toList();
  }

  private static Work work(ParadlLayer line, boolean first) {
    double in = line.elementsIn();
    double out = line.elementsOut();
    return switch (line.kind()) {
      case WEIGHTED -> {
        double flop = 2.0 * line.kernelElements() * line.in().get(0) * out;
        yield new Work(flop, first ? 0 : flop, flop, in + out);
      }
      case POOLING -> new Work(line.kernelElements() * out, in, 0, in + out);
      case ELEMENTWISE -> elementwise(line, out);
    };
  }

  private static Work elementwise(ParadlLayer line, double elements) {
    if (line.normalizes()) {
      return new Work(5 * elements, 8 * elements, 2 * elements, 3 * elements);
    }
    return line.adds()
        ? new Work(elements, 0, 0, 3 * elements)
        : new Work(elements, elements, 0, 2 * elements);
  }

  private static long kept(ParadlLayer line, @Nullable ParadlLayer reader) {
    boolean function =
        line.kind() == ParadlLayer.Kind.ELEMENTWISE && !line.adds() && !line.normalizes();
    long statistics = line.normalizes() ? 2L * line.out().get(0) : 0;
    boolean output = function || reader == null || readsAgain(reader);
    return statistics + (output ? line.elementsOut() : 0);
  }

  private static boolean readsAgain(ParadlLayer reader) {
    return switch (reader.kind()) {
      case WEIGHTED -> true;
      case POOLING -> !reader.averages();
      case ELEMENTWISE -> reader.normalizes();
    };
  }
}
