package dev.pipewright.formats.trace;

import dev.pipewright.compare.PassMedians;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.trace.TracedLayers.Traced;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Work;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Profiles from measured runs: a chain of layers with their times. What a trace does not say, such
 * as the sizes of outputs where no shapes were recorded, is 0.
 */
public final class TracedProfile {
  private TracedProfile() {}

  /** The samples of a step's pass, where the first layer's input says them. */
  public static OptionalInt samples(TracedRun run) {
    return TracedLayers.of(run.ranks().get(0)).stream()
        .mapToLong(Traced::samples)
        .limit(1)
        .filter(samples -> 0 < samples && samples <= 1 << 20)
        .mapToInt(samples -> (int) samples)
        .findFirst();
  }

  /** The layers of all ranks: once where all have the same, otherwise one rank after the other. */
  private static List<Traced> layers(TracedRun run) {
    List<List<Traced>> all = run.ranks().stream().map(TracedLayers::of).toList();
    List<String> first = all.get(0).stream().map(Traced::name).toList();
    boolean same =
        all.stream().allMatch(each -> each.stream().map(Traced::name).toList().equals(first));
    List<Traced> layers = new ArrayList<>();
    for (int i = 0; i < (same ? first.size() : all.size()); i++) {
      if (same) {
        layers.add(medians(all, i));
        continue;
      }
      for (Traced layer : all.get(i)) {
        layers.add(renamed(layer, "rank-" + run.number(i) + "/" + layer.name()));
      }
    }
    return layers;
  }

  private static Traced medians(List<List<Traced>> all, int at) {
    Traced layer = all.get(0).get(at);
    double[] forward = all.stream().mapToDouble(each -> each.get(at).forward()).toArray();
    double[] backward = all.stream().mapToDouble(each -> each.get(at).backward()).toArray();
    return new Traced(
        layer.number(),
        layer.name(),
        TracedLayers.median(forward),
        TracedLayers.median(backward),
        layer.inputElements(),
        layer.samples(),
        layer.parameters(),
        layer.elementBytes());
  }

  private static Traced renamed(Traced layer, String name) {
    return new Traced(
        layer.number(),
        name,
        layer.forward(),
        layer.backward(),
        layer.inputElements(),
        layer.samples(),
        layer.parameters(),
        layer.elementBytes());
  }

  /**
   * The profile of a run; none where no work belongs to a layer.
   *
   * @param samples that each step's passes are for
   * @param source the traces, in words
   */
  public static Optional<ModelFile> of(TracedRun run, int samples, String name, String source) {
    List<Traced> layers = layers(run);
    if (layers.isEmpty()) {
      return Optional.empty();
    }
    double update = run.ranks().stream().mapToDouble(TracedLayers::update).max().orElse(0);
    long parameters = layers.stream().mapToLong(Traced::parameters).sum();
    double seconds = layers.stream().mapToDouble(layer -> layer.forward() + layer.backward()).sum();
    List<Layer> graph = new ArrayList<>();
    List<LayerSizes> sizes = new ArrayList<>();
    List<LayerTimes> times = new ArrayList<>();
    for (int i = 0; i < layers.size(); i++) {
      Traced layer = layers.get(i);
      long output = i + 1 < layers.size() ? layers.get(i + 1).inputElements() / samples : 0;
      graph.add(layer(layer.name(), layer.parameters(), output));
      double bytes = (double) output * layer.elementBytes();
      sizes.add(new LayerSizes(bytes, bytes, (double) layer.parameters() * layer.elementBytes()));
      double share =
          parameters > 0
              ? (double) layer.parameters() / parameters
              : seconds > 0 ? (layer.forward() + layer.backward()) / seconds : 0;
      times.add(new LayerTimes(layer.forward(), layer.backward(), Double.NaN, update * share));
    }
    String device = run.ranks().get(0).events.device;
    return Optional.of(
        file(
            name,
            graph,
            new Profile(
                new Provenance(source, device.isEmpty() ? "unknown" : device, "", true),
                Precision.FP32,
                sizes,
                List.of(samples),
                List.of(times))));
  }

  /**
   * The profile of a pipeline, whose stages are the layers.
   *
   * @param samples of a micro-batch
   */
  public static ModelFile of(PipelineDump dump, int samples, String name, String source) {
    PassMedians medians = dump.passes().medians();
    List<Layer> graph = new ArrayList<>();
    List<LayerSizes> sizes = new ArrayList<>();
    List<LayerTimes> times = new ArrayList<>();
    for (int stage = 0; stage < medians.forward().length; stage++) {
      graph.add(layer("stage-" + stage, 0, 0));
      sizes.add(new LayerSizes(0, 0, 0));
      double weight = medians.weight()[stage];
      times.add(
          new LayerTimes(
              medians.forward()[stage],
              medians.backward()[stage] + weight,
              weight > 0 ? weight : Double.NaN,
              0));
    }
    return file(
        name,
        graph,
        new Profile(
            new Provenance(source, "unknown", "", true),
            Precision.FP32,
            sizes,
            List.of(samples),
            List.of(times)));
  }

  private static Layer layer(String name, long parameters, long output) {
    return new Layer(
        name, new Operator.Recorded(name), Optional.empty(), parameters, output, output, Work.NONE);
  }

  private static ModelFile file(String name, List<Layer> layers, Profile profile) {
    return new ModelFile(LayerGraph.chain(name, layers), profile, Optional.empty());
  }
}
