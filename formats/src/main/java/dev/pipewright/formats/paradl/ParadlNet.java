package dev.pipewright.formats.paradl;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.model.GraphAssembly;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Shape;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the network files of ParaDL's oracle ({@code .net}, {@code .net_sc}).
 *
 * <pre>
 * Dataset|ImageNet
 * Input|1280000x3x226x226                          samples, channels, extents
 * Model|AlexNet
 * CONV1|3x226x226|3x96x11x11|96x54x54|0.000610938  input, filter, output, seconds
 * RELU|96x54x54|96x96x0x0|96x54x54|0               element-wise: no kernel
 * MPOOL|96x54x54|0x0x3x3|96x27x27|0                pooling: no weights
 * </pre>
 *
 * <p>Source: A. N. Kahira et al., <i>An oracle for guiding large-scale model/hybrid parallel
 * training of convolutional neural networks</i>, HPDC 2021, arXiv:2104.09075, and the input files
 * of its authors' program. As there, a network is a chain in the order of its lines: shortcuts are
 * an {@code ADD} without a second input, and a layer that does not read what the line before it
 * writes is a mistake. Weights are counted as the program counts them: filters only.
 */
public final class ParadlNet {
  private static final String KIND = "a ParaDL network";
  private static final long MOST_SAMPLES = 1_000_000_000_000_000L;

  private ParadlNet() {}

  /** Throws {@link BadInputException} when the file is no such network. */
  public static ModelFile read(Path file) {
    List<BarLine> lines = BarLine.all(file, KIND);
    String dataset = header(lines, 0, "Dataset", "Dataset|name");
    String input = header(lines, 1, "Input", "Input|samples x channels x width x height");
    String model = header(lines, 2, "Model", "Model|name");
    BarLine inputLine = lines.get(1);
    int x = Math.max(0, input.indexOf('x'));
    long samples =
        inputLine.count(input.substring(0, x).strip(), "number of samples", MOST_SAMPLES);
    List<Integer> shape = inputShape(inputLine, input.substring(x + 1));
    List<ParadlLayer> layers = layers(lines.subList(3, lines.size()), shape);
    if (layers.isEmpty()) {
      throw lines.get(2).mistake("no layer follows; a network has a line for each layer");
    }
    LayerGraph graph = ParadlGraph.of(model, new Shape(shape), layers);
    return new ModelFile(
        graph,
        ParadlTimes.profile(file, graph, layers),
        Optional.empty(),
        Optional.of(new ModelFile.Dataset(dataset, samples)));
  }

  private static String header(List<BarLine> lines, int index, String key, String form) {
    BarLine line = lines.get(Math.min(index, lines.size() - 1));
    boolean there = index < lines.size() && line.field(0).equals(key);
    if (!there || line.fields().size() != 2 || line.field(1).isEmpty()) {
      throw line.mistake(
          "expected \"%s\" %s; a ParaDL network begins with the lines Dataset, Input, Model"
              .formatted(form, index < lines.size() ? "here" : "next"));
    }
    return line.field(1);
  }

  private static List<Integer> inputShape(BarLine line, String text) {
    int numbers = text.split("x", -1).length;
    if (numbers < 3 || numbers > 4) {
      throw line.mistake(
          "\"%s\" is no input; write samples, channels and two or three extents, like"
                  .formatted(BarLine.shortened(line.field(1)))
              + " 1280000x3x226x226");
    }
    return ParadlLayer.extents(line, "input", text, 1, numbers);
  }

  private static List<ParadlLayer> layers(List<BarLine> lines, List<Integer> input) {
    List<ParadlLayer> layers = new ArrayList<>();
    List<Integer> written = input;
    String writer = "the Input line";
    for (BarLine line : lines) {
      ParadlLayer layer = ParadlLayer.parse(line, input.size() - 1);
      layer.checkReads(written, writer);
      layers.add(layer);
      written = layer.out();
      writer = layer.name() + " in line " + line.number();
    }
    if (layers.size() > GraphAssembly.MOST_LAYERS) {
      throw layers.get(GraphAssembly.MOST_LAYERS).line().mistake(GraphAssembly.tooManyLayers());
    }
    return layers;
  }
}
