package dev.pipewright.formats.paradl;

import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cost.Roofline;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The times of a ParaDL network: seconds for one sample, in which forward pass, backward pass and
 * update are one number, for each layer or (on the first) for the whole network.
 *
 * <p>What the file leaves open is divided as a {@link Roofline} of a V100 sees it at a slice of 32
 * samples: the network's number among the layers, a layer's number between its passes. The update
 * is inside, so it has no time of its own. A file without seconds gets the roofline's.
 *
 * <p>Departs: the authors' program divides the network's number in proportion to 2 · (FLOP of the
 * forward pass) + weights, which gives element-wise layers nothing, although they move as much
 * memory as the layers around them.
 */
final class ParadlTimes {
  private static final int SLICE = 32;

  private final Path file;
  private final List<ParadlLayer> lines;
  private final Profile roofline;
  private final List<LayerTimes> guesses; // the roofline's, without updates

  private ParadlTimes(Path file, List<ParadlLayer> lines, Profile roofline) {
    this.file = file;
    this.lines = lines;
    this.roofline = roofline;
    this.guesses =
        roofline.times(0).stream()
            .map(t -> new LayerTimes(t.forward(), t.backward(), t.weightGradient(), 0))
            .toList();
  }

  /** {@code graph} has one layer, the input, before those of {@code lines}. */
  static Profile profile(Path file, LayerGraph graph, List<ParadlLayer> lines) {
    DeviceKind device = Clusters.v100();
    Training training = new Training(Optimizer.SGD, Precision.FP32);
    Profile roofline = Roofline.profile(graph, device, training, List.of(SLICE), false);
    return new ParadlTimes(file, lines, roofline).profile(device);
  }

  private Profile profile(DeviceKind device) {
    String name = String.valueOf(file.getFileName());
    String unknown = "on a device that the file does not name";
    if (lines.stream().allMatch(line -> line.seconds() == 0)) {
      return profile(new Provenance("roofline of " + name, device.name(), "", false), guesses);
    }
    if (unmeasured().isEmpty()) {
      List<Double> seconds = new ArrayList<>(List.of(0.0)); // the input's
      lines.forEach(line -> seconds.add(line.seconds()));
      return profile(new Provenance(name, unknown, "", true), divided(seconds));
    }
    String source = name + ", one number divided among the layers by a roofline";
    return profile(new Provenance(source, unknown, "", true), divided(shares(wholeSeconds())));
  }

  private Optional<ParadlLayer> unmeasured() {
    return lines.stream()
        .filter(line -> line.kind() == ParadlLayer.Kind.WEIGHTED && line.seconds() == 0)
        .findFirst();
  }

  /** The number on the first layer, where it is the only one. */
  private double wholeSeconds() {
    for (ParadlLayer line : lines.subList(1, lines.size())) {
      if (line.seconds() > 0) {
        ParadlLayer without = unmeasured().orElseThrow();
        throw without
            .line()
            .mistake(
                ("%s has no seconds, yet %s in line %d has; give each layer with weights its own,"
                        + " or the first layer alone those of the whole network")
                    .formatted(without.name(), line.name(), line.line().number()));
      }
    }
    return lines.get(0).seconds();
  }

  private List<Double> shares(double seconds) {
    double whole = guesses.stream().mapToDouble(ParadlTimes::both).sum();
    return guesses.stream().map(times -> seconds * (both(times) / whole)).toList();
  }

  /** Each layer's seconds for one sample, divided between its passes. */
  private List<LayerTimes> divided(List<Double> seconds) {
    List<LayerTimes> divided = new ArrayList<>(seconds.size());
    for (int layer = 0; layer < seconds.size(); layer++) {
      LayerTimes guess = guesses.get(layer);
      double slice = seconds.get(layer) * SLICE;
      double unit = slice > 0 ? slice / both(guess) : 0;
      double backward = Math.min(slice, guess.backward() * unit);
      double weightGradient = Math.min(backward, guess.weightGradient() * unit);
      divided.add(new LayerTimes(slice - backward, backward, weightGradient, 0));
    }
    return divided;
  }

  private static double both(LayerTimes times) {
    return times.forward() + times.backward();
  }

  private Profile profile(Provenance provenance, List<LayerTimes> times) {
    List<LayerSizes> sizes = new ArrayList<>(times.size());
    for (int layer = 0; layer < times.size(); layer++) {
      sizes.add(roofline.sizes(layer));
    }
    return new Profile(provenance, Precision.FP32, sizes, List.of(SLICE), List.of(times));
  }
}
