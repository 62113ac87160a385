package dev.pipewright.formats.profile;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * Pipewright's own profiles: a network with the times and sizes of its layers, as JSON. What is
 * written is read back equal, to the last bit. Seconds and bytes are plain numbers; the keys say
 * which. {@code docs/formats.md} lists them.
 */
public final class ProfileJson {
  static final String FORMAT = "pipewright-profile";
  static final int VERSION = 1;

  private ProfileJson() {}

  /** Throws {@link BadInputException} when the file is not a profile that can be planned with. */
  public static ModelFile read(Path file) {
    return ProfileReader.read(file);
  }

  /** The text of a file that {@link #read} reads back equal. */
  public static String text(ModelFile model) {
    return JsonText.of(object(model));
  }

  /** Replaces {@code file}. */
  public static void write(Path file, ModelFile model) {
    OutputFile.write(file, text(model));
  }

  private static Map<String, Object> object(ModelFile model) {
    LayerGraph graph = model.graph();
    Profile profile = model.profile();
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("format", FORMAT);
    object.put("version", VERSION);
    object.put("model", graph.name());
    object.put("provenance", object(profile.provenance()));
    object.put("precision", EnumWords.word(profile.precision()));
    model.training().ifPresent(training -> object.put("training", object(training)));
    List<Object> layers = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < graph.size(); i++) {
      if (!names.add(graph.layer(i).name())) {
        throw new IllegalArgumentException("two layers are called " + graph.layer(i).name());
      }
      layers.add(object(graph.layer(i), profile.sizes(i)));
    }
    object.put("layers", layers);
    object.put(
        "edges",
        graph.edges().stream()
            .map(e -> List.of(graph.layer(e.from()).name(), graph.layer(e.to()).name()))
            .toList());
    List<Object> batches = new ArrayList<>();
    for (int i = 0; i < profile.samples().size(); i++) {
      Map<String, Object> batch = object(profile.samples().get(i), profile.times(i));
      if (profile.saysMemory()) {
        putMemory(batch, profile.memory(i));
      }
      batches.add(batch);
    }
    object.put("batches", batches);
    return object;
  }

  private static Map<String, Object> object(Provenance provenance) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("source", provenance.source());
    object.put("device", provenance.device());
    object.put("date", provenance.date());
    object.put("measured", provenance.measured());
    return object;
  }

  private static Map<String, Object> object(Training training) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("optimizer", EnumWords.word(training.optimizer()));
    object.put("precision", EnumWords.word(training.precision()));
    return object;
  }

  private static Map<String, Object> object(Layer layer, LayerSizes sizes) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", layer.name());
    object.put("operator", OperatorJson.write(layer.operator()));
    if (!layer.steps().equals(List.of(layer.operator()))) {
      object.put("steps", layer.steps().stream().map(OperatorJson::write).toList());
    }
    layer.output().ifPresent(shape -> object.put("output_shape", shape.extents()));
    object.put("parameters", layer.parameters());
    object.put("output_elements", layer.outputElements());
    object.put("kept_elements", layer.keptElements());
    if (!layer.work().equals(Work.NONE)) {
      object.put("work", object(layer.work()));
    }
    object.put("output_bytes", sizes.output());
    object.put("kept_bytes", sizes.kept());
    object.put("parameter_bytes", sizes.parameters());
    return object;
  }

  private static Map<String, Object> object(Work work) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("forward_flop", work.forward());
    object.put("input_gradient_flop", work.inputGradient());
    object.put("weight_gradient_flop", work.weightGradient());
    object.put("forward_elements", work.forwardElements());
    return object;
  }

  private static Map<String, Object> object(int samples, List<LayerTimes> times) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("samples", samples);
    object.put("forward_s", column(times, LayerTimes::forward));
    object.put("backward_s", column(times, LayerTimes::backward));
    if (times.stream().anyMatch(t -> !Double.isNaN(t.inputGradient()))) {
      object.put("input_gradient_s", column(times, LayerTimes::inputGradient));
    }
    if (times.stream().anyMatch(t -> !Double.isNaN(t.weightGradient()))) {
      object.put("weight_gradient_s", column(times, LayerTimes::weightGradient));
    }
    object.put("update_s", column(times, LayerTimes::update));
    return object;
  }

  private static void putMemory(Map<String, Object> object, List<LayerMemory> memory) {
    object.put("forward_working_bytes", column(memory, LayerMemory::forward));
    object.put("backward_working_bytes", column(memory, LayerMemory::backward));
    object.put("split_kept_bytes", column(memory, LayerMemory::splitKept));
    object.put("deferred_bytes", column(memory, LayerMemory::deferred));
  }

  private static <T> List<Double> column(List<T> layers, ToDoubleFunction<T> value) {
    return layers.stream().map(value::applyAsDouble).toList();
  }
}
