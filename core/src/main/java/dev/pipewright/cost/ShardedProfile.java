package dev.pipewright.cost;

import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.TiedTable;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.profile.DividedLayers;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Profile.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The profile of a worker that computes the largest part of each layer in a tensor-parallel group,
 * derived from the profile of full layers. Exchanges are not part of it.
 *
 * <p>Times are those of {@link PartTimes}; parameters and their update those of {@link
 * ShardedParameters}. Tensors between stages stay full, or have the tokens of a {@linkplain
 * Parallelism#copies copy}, or of a worker where all stages divide layers alike;
 * vocabulary-parallel scores stay divided.
 */
public final class ShardedProfile {
  private final Workload whole;
  private final Parallelism split; // of a copy of the group
  private final int owners; // of experts, in all copies
  private final double tokens; // the share that the whole workload has of each sequence
  private final CutRegion region;
  private final List<LayerShard> parts = new ArrayList<>(); // by layer
  private final List<Double> parameters = new ArrayList<>(); // shares of them, likewise
  private final PartTimes times;

  /**
   * @param alike whether all stages divide layers so
   */
  private ShardedProfile(Workload whole, Parallelism group, double tokens, boolean alike) {
    this.whole = whole;
    this.split = group.ofCopy();
    this.owners = group.expertParts();
    this.tokens = tokens;
    this.times = new PartTimes(whole);
    boolean described = !whole.profile().provenance().measured();
    LayerGraph network = whole.chain().graph();
    LayerGraph graph = described ? TiedTable.untied(network) : network;
    this.region = new CutRegion(graph, split, alike);
    ShardedParameters tensorGroup = new ShardedParameters(graph, group);
    for (int layer = 0; layer < graph.size(); layer++) {
      parts.add(LayerShard.of(graph, layer, group, region, described));
      long all = graph.layer(layer).parameters();
      parameters.add(all == 0 ? 1 : (double) tensorGroup.most(layer) / all);
    }
  }

  /**
   * The workload of such a worker; the same where nothing is split.
   *
   * @param alike whether all stages divide layers so ({@link CutRegion#staysCut})
   */
  public static Workload of(Workload whole, Parallelism split, boolean alike) {
    if (!split.several()) {
      return whole;
    }
    if (!split.nested()) {
      return of(whole, split, 1, alike);
    }
    if (split.tokenParts() > 1) {
      Workload ofCopy = of(whole, split.betweenCopies(), 1, true);
      return of(ofCopy, split.ofCopy(), 1.0 / split.copies(), alike);
    }
    Workload ofCopy = of(whole, split, 1, alike);
    return new Workload(
        whole.chain(),
        ofCopy.profile().ofSamples(split.copies()),
        whole.training(),
        whole.cluster());
  }

  private static Workload of(Workload whole, Parallelism split, double tokens, boolean alike) {
    return new Workload(
        whole.chain(),
        new ShardedProfile(whole, split, tokens, alike).profile(),
        whole.training(),
        whole.cluster());
  }

  private Profile profile() {
    Profile all = whole.profile();
    List<LayerSizes> sizes = new ArrayList<>();
    for (int layer = 0; layer < all.layers(); layer++) {
      sizes.add(sizes(layer, all.sizes(layer)));
    }
    List<List<LayerTimes>> tables = new ArrayList<>();
    List<List<LayerMemory>> memory = new ArrayList<>();
    for (int batch = 0; batch < all.samples().size(); batch++) {
      tables.add(times(all.times(batch), all.samples().get(batch)));
      if (all.saysMemory()) {
        memory.add(memory(all.memory(batch), all.samples().get(batch)));
      }
    }
    Profile own =
        new Profile(all.provenance(), all.precision(), sizes, all.samples(), tables, memory);
    return divided().map(own::with).orElse(own);
  }

  private LayerSizes sizes(int layer, LayerSizes own) {
    return new LayerSizes(
        own.output() * shareOfOutput(layer),
        kept(layer, own.kept()),
        own.parameters() * parameters.get(layer));
  }

  /** What a worker has of what a layer makes, where its stage ends. */
  private double shareOfOutput(int layer) {
    if (!region.staysCut(layer)) {
      return parts.get(layer).scores().share();
    }
    int rows = region.graph().layer(layer).output().orElseThrow().extent(0);
    int parts = split.dividesTokens() ? split.tokenParts() : split.parts();
    return LayerShard.share(rows, parts) / split.sampleParts();
  }

  /** Bytes of a sample. */
  private double kept(int layer, double bytes) {
    LayerShard part = parts.get(layer);
    double element = whole.profile().precision().bytes() * tokens;
    double everywhere = Math.min(bytes, part.keptWhole() * element);
    return everywhere + (bytes - everywhere) * part.keptShare() + part.keptBeside() * element;
  }

  /** What the profile's source says of members, with their part of the update. */
  private Optional<List<LayerTimes>> stated(List<LayerTimes> all, int samples) {
    boolean features = split.dividesFeatures();
    int parts = features ? split.parts() : 1;
    return (features ? whole.profile().divided() : divided())
        .flatMap(divided ->
            divided.times(parts, split.kind() == Kind.SEQUENCE, features ? owners : 1, samples))
        .map(times ->
            IntStream.range(0, times.size())
                .mapToObj(layer ->
                    times.get(layer).updatedIn(all.get(layer).update() * parameters.get(layer)))
                .toList());
  }

  /** What the profile's source says of devices that divide the tokens, and their groups. */
  private Optional<DividedLayers> divided() {
    return split.kind() == Kind.CONTEXT
        ? whole.profile().divided().map(known -> known.ofContext(split.parts()))
        : Optional.empty();
  }

  private List<LayerTimes> times(List<LayerTimes> all, int samples) {
    return stated(all, samples).orElseGet(() -> shares(all, samples));
  }

  private List<LayerTimes> shares(List<LayerTimes> all, int samples) {
    List<LayerTimes> own = new ArrayList<>();
    for (int layer = 0; layer < all.size(); layer++) {
      LayerTimes each = all.get(layer);
      LayerShard part = parts.get(layer);
      double share = times.share(layer, samples * tokens, part.part(), part.wholeElements());
      MapReach reach = part.reach();
      double moving = times.moving(reach.moved() * samples);
      double input = each.of(Quantity.INPUT_GRADIENT);
      double weight = each.of(Quantity.WEIGHT_GRADIENT);
      double both = input + weight;
      double around = both == 0 ? 0 : input / both * (reach.places() - 1);
      own.add(
          new LayerTimes(
              each.forward() * share + moving,
              each.backward() * share * (1 + around) + moving,
              input * share * reach.places() + moving,
              weight * share,
              each.update() * parameters.get(layer)));
    }
    return own;
  }

  private List<LayerMemory> memory(List<LayerMemory> all, int samples) {
    List<LayerMemory> own = new ArrayList<>();
    for (int layer = 0; layer < all.size(); layer++) {
      LayerMemory each = all.get(layer);
      LayerShard part = parts.get(layer);
      double sample = whole.profile().precision().bytes() * samples * tokens;
      own.add(
          new LayerMemory(
              working(Math.max(0, each.forward() - part.scores().spared() * sample), part, sample),
              working(each.backward(), part, sample),
              kept(layer, each.splitKept() / samples) * samples,
              each.deferred() * part.deferredShare()));
    }
    return own;
  }

  /**
   * @param sample bytes of a number of all samples
   */
  private static double working(double bytes, LayerShard part, double sample) {
    double everywhere = Math.min(bytes, part.workingWhole() * sample);
    return everywhere + (bytes - everywhere) * part.workingShare() + part.workingBeside() * sample;
  }
}
