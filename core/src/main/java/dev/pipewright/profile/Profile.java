package dev.pipewright.profile;

import dev.pipewright.units.Check;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;

/**
 * Times and sizes of the layers of a network, in the order of its {@code LayerGraph}.
 *
 * <p>Sizes are bytes for one sample. Times are seconds for a whole slice of a batch, at one or more
 * slice sizes; between two the time is interpolated, outside it follows the nearest two (or is
 * proportional where there is one). A measured profile may say for each slice size what layers need
 * while they compute, too.
 */
public final class Profile {
  /** The passes that have a time of their own. */
  public enum Quantity {
    FORWARD,
    /** All of the backward pass. */
    BACKWARD,
    /** The part of a backward pass in two parts that earlier layers wait for. */
    INPUT_GRADIENT,
    /** The part of it that only the update waits for. */
    WEIGHT_GRADIENT,
    /** The optimizer's step; does not depend on the batch. */
    UPDATE
  }

  private final Provenance provenance;
  private final Precision precision;
  private final List<LayerSizes> sizes;
  private final int[] samples;
  private final LayerTimes[][] times; // [batch][layer]
  private final LayerMemory[][] memory; // likewise; no batch where it was not measured
  private final Optional<DividedLayers> divided;

  /**
   * Bytes of one layer.
   *
   * @param output boundary activation of one sample
   * @param kept what the backward pass needs of one sample's forward pass
   * @param parameters all weights of the layer, in the profile's precision
   */
  public record LayerSizes(double output, double kept, double parameters) {
    public LayerSizes {
      Check.amount(output, "output bytes");
      Check.amount(kept, "kept bytes");
      Check.amount(parameters, "parameter bytes");
    }
  }

  /**
   * Seconds of one layer for one slice size. In two parts a backward pass may take longer.
   *
   * @param backward a whole pass
   * @param inputGradient the first of two parts, or NaN where that is the rest of {@code backward}
   * @param weightGradient the second, or NaN where the source does not split it
   */
  public record LayerTimes(
      double forward, double backward, double inputGradient, double weightGradient, double update) {
    public LayerTimes {
      Check.amount(forward, "forward seconds");
      Check.amount(backward, "backward seconds");
      Check.amount(update, "update seconds");
      if (!Double.isNaN(inputGradient)) {
        Check.amount(inputGradient, "input-gradient seconds");
        Check.that(
            !Double.isNaN(weightGradient),
            "an input gradient by itself is a part without the other: give the weight gradient,"
                + " too");
        Check.amount(weightGradient, "weight-gradient seconds");
      }
      Check.that(
          Double.isNaN(weightGradient)
              || !Double.isNaN(inputGradient)
              || (weightGradient >= 0 && weightGradient <= backward),
          "the weight gradient is a part of the backward pass: weight_gradient=%s, backward=%s",
          weightGradient,
          backward);
    }

    /** A backward pass that takes as long in two parts. */
    public LayerTimes(double forward, double backward, double weightGradient, double update) {
      this(forward, backward, Double.NaN, weightGradient, update);
    }

    /** The same where an update takes {@code seconds}. */
    public LayerTimes updatedIn(double seconds) {
      return new LayerTimes(forward, backward, inputGradient, weightGradient, seconds);
    }

    /** Seconds of one quantity. */
    public double of(Quantity quantity) {
      return switch (quantity) {
        case FORWARD -> forward;
        case BACKWARD -> backward;
        case INPUT_GRADIENT ->
            Double.isNaN(inputGradient) ? backward - of(Quantity.WEIGHT_GRADIENT) : inputGradient;
        case WEIGHT_GRADIENT -> Double.isNaN(weightGradient) ? backward / 2 : weightGradient;
        case UPDATE -> update;
      };
    }
  }

  /**
   * A profile that does not say what layers need while they compute.
   *
   * @param samples the slice sizes that were measured, ascending
   * @param times for each slice size one entry per layer
   */
  public Profile(
      Provenance provenance,
      Precision precision,
      List<LayerSizes> sizes,
      List<Integer> samples,
      List<List<LayerTimes>> times) {
    this(provenance, precision, sizes, samples, times, List.of());
  }

  /**
   * @param samples the slice sizes that were measured, ascending
   * @param times for each slice size one entry per layer
   * @param memory likewise, or none at all
   */
  public Profile(
      Provenance provenance,
      Precision precision,
      List<LayerSizes> sizes,
      List<Integer> samples,
      List<List<LayerTimes>> times,
      List<List<LayerMemory>> memory) {
    this(provenance, precision, sizes, samples, times, memory, Optional.empty());
  }

  private Profile(
      Provenance provenance,
      Precision precision,
      List<LayerSizes> sizes,
      List<Integer> samples,
      List<List<LayerTimes>> times,
      List<List<LayerMemory>> memory,
      Optional<DividedLayers> divided) {
    Check.that(
        !samples.isEmpty(), "a profile needs at least one batch: source=%s", provenance.source());
    Check.that(
        samples.size() == times.size(),
        "one table of times per batch: batches=%d, tables=%d",
        samples.size(),
        times.size());
    Check.that(
        memory.isEmpty() || memory.size() == samples.size(),
        "one table of memory per batch or none: batches=%d, tables=%d",
        samples.size(),
        memory.size());
    this.provenance = provenance;
    this.divided = divided;
    this.precision = precision;
    this.sizes = List.copyOf(sizes);
    this.samples = samples.stream().mapToInt(Integer::intValue).toArray();
    this.times =
        times.stream().map(table -> table.toArray(LayerTimes[]::new)).toArray(LayerTimes[][]::new);
    this.memory =
        memory.stream()
            .map(table -> table.toArray(LayerMemory[]::new))
            .toArray(LayerMemory[][]::new);
    for (int i = 0; i < this.samples.length; i++) {
      Check.that(
          this.samples[i] > (i == 0 ? 0 : this.samples[i - 1]),
          "batches must be positive and ascending: batches=%s",
          samples);
      Check.that(
          this.times[i].length == this.sizes.size(),
          "one time per layer: batch=%d, times=%d, layers=%d",
          this.samples[i],
          this.times[i].length,
          this.sizes.size());
      Check.that(
          memory.isEmpty() || this.memory[i].length == this.sizes.size(),
          "memory of every layer: batch=%d, layers=%d",
          this.samples[i],
          this.sizes.size());
    }
  }

  /** The same profile, which knows what divided layers take. */
  public Profile with(DividedLayers parts) {
    List<List<LayerTimes>> tables = Arrays.stream(times).map(List::of).toList();
    List<List<LayerMemory>> needs = Arrays.stream(memory).map(List::of).toList();
    return new Profile(provenance, precision, sizes, samples(), tables, needs, Optional.of(parts));
  }

  /** What divided layers take, where the profile's source knows. */
  public Optional<DividedLayers> divided() {
    return divided;
  }

  public Provenance provenance() {
    return provenance;
  }

  public Precision precision() {
    return precision;
  }

  public int layers() {
    return sizes.size();
  }

  public LayerSizes sizes(int layer) {
    return sizes.get(layer);
  }

  /** The slice sizes that were measured, ascending. */
  public List<Integer> samples() {
    return Arrays.stream(samples).boxed().toList();
  }

  /** The times of all layers at {@code samples().get(batch)}. */
  public List<LayerTimes> times(int batch) {
    return List.of(times[batch]);
  }

  /** Whether it says what layers need while they compute. */
  public boolean saysMemory() {
    return memory.length > 0;
  }

  /**
   * What all layers need at {@code samples().get(batch)}, where it {@linkplain #saysMemory says}.
   */
  public List<LayerMemory> memory(int batch) {
    return List.of(memory[batch]);
  }

  /**
   * What the hungriest layer needs while it computes a slice, beyond what it keeps; 0 where nothing
   * is said.
   */
  public double workingBytes(int slice) {
    return saysMemory()
        ? memoryOf(slice).stream().mapToDouble(LayerMemory::working).max().orElse(0)
        : 0;
  }

  /** What each layer needs for a slice of {@code slice} samples, where it says. */
  public List<LayerMemory> memoryOf(double slice) {
    Check.that(slice > 0, "a slice has samples: slice=%s", slice);
    List<LayerMemory> needed = new ArrayList<>();
    for (int layer = 0; layer < layers(); layer++) {
      int at = layer;
      needed.add(
          new LayerMemory(
              at(slice, batch -> memory[batch][at].forward()),
              at(slice, batch -> memory[batch][at].backward()),
              at(slice, batch -> memory[batch][at].splitKept()),
              at(slice, batch -> memory[batch][at].deferred())));
    }
    return needed;
  }

  /** Whether any layer's passes over a slice take time. */
  public boolean takesTime(double slice) {
    return Arrays.stream(seconds(Quantity.FORWARD, slice)).anyMatch(s -> s > 0)
        || Arrays.stream(seconds(Quantity.BACKWARD, slice)).anyMatch(s -> s > 0);
  }

  /** Whether every layer's backward pass is split at every batch. */
  public boolean splitsBackward() {
    return Arrays.stream(times)
        .flatMap(Arrays::stream)
        .noneMatch(t -> Double.isNaN(t.weightGradient));
  }

  /**
   * Seconds of {@code quantity} for each layer on a slice of {@code slice} samples (fractions
   * allowed).
   */
  public double[] seconds(Quantity quantity, double slice) {
    Check.that(slice > 0, "a slice has samples: slice=%s", slice);
    double[] seconds = new double[layers()];
    for (int layer = 0; layer < seconds.length; layer++) {
      int at = layer;
      seconds[layer] =
          quantity == Quantity.UPDATE
              ? times[0][layer].update
              : at(slice, batch -> times[batch][at].of(quantity));
    }
    return seconds;
  }

  /** A figure for a slice, from what it is at each batch. */
  private double at(double slice, IntToDoubleFunction figure) {
    if (samples.length == 1) {
      return figure.applyAsDouble(0) * (slice / samples[0]);
    }
    int right = 1;
    while (right < samples.length - 1 && samples[right] < slice) {
      right++;
    }
    double x0 = samples[right - 1];
    double x1 = samples[right];
    double y0 = figure.applyAsDouble(right - 1);
    double y1 = figure.applyAsDouble(right);
    double line = y0 + (y1 - y0) * (slice - x0) / (x1 - x0);
    if (slice < x0) {
      return Math.max(line, y0 * slice / x0); // never cheaper than its share
    }
    return slice < x1 ? line : Math.max(line, y1); // a larger slice takes no less than the last
  }

  /** The same for so many devices, or groups of these, that have equally many of the samples. */
  public Profile ofSamples(int holders) {
    List<LayerSizes> shares =
        sizes.stream()
            .map(
                each -> new LayerSizes(each.output / holders, each.kept / holders, each.parameters))
            .toList();
    List<Integer> all = samples().stream().map(each -> Math.multiplyExact(each, holders)).toList();
    List<List<LayerTimes>> tables = Arrays.stream(times).map(List::of).toList();
    List<List<LayerMemory>> needs = Arrays.stream(memory).map(List::of).toList();
    return new Profile(provenance, precision, shares, all, tables, needs);
  }

  /** The same network on a device that takes {@code factor} times as long for everything. */
  public Profile slower(double factor) {
    Check.positive(factor, "factor");
    List<List<LayerTimes>> slower = new ArrayList<>();
    for (LayerTimes[] table : times) {
      slower.add(
          Arrays.stream(table)
              .map(t ->
                  new LayerTimes(
                      t.forward * factor,
                      t.backward * factor,
                      t.inputGradient * factor,
                      t.weightGradient * factor,
                      t.update * factor))
              .toList());
    }
    return with(sizes, slower);
  }

  /** The same with other sizes and times. */
  public Profile with(List<LayerSizes> sizes, List<List<LayerTimes>> times) {
    return new Profile(
        provenance,
        precision,
        sizes,
        samples(),
        times,
        Arrays.stream(memory).map(List::of).toList());
  }

  /** Bytes of each layer's boundary activation for one sample. */
  public double[] outputBytes() {
    return sizes.stream().mapToDouble(LayerSizes::output).toArray();
  }

  /** Bytes that each layer keeps for its backward pass, for one sample. */
  public double[] keptBytes() {
    return sizes.stream().mapToDouble(LayerSizes::kept).toArray();
  }

  /** Bytes of each layer's weights. */
  public double[] parameterBytes() {
    return sizes.stream().mapToDouble(LayerSizes::parameters).toArray();
  }

  @Override
  public boolean equals(Object that) {
    return that instanceof Profile other
        && provenance.equals(other.provenance)
        && precision == other.precision
        && sizes.equals(other.sizes)
        && Arrays.equals(samples, other.samples)
        && Arrays.deepEquals(times, other.times)
        && Arrays.deepEquals(memory, other.memory);
  }

  @Override
  public int hashCode() {
    return Objects.hash(
        provenance,
        precision,
        sizes,
        Arrays.hashCode(samples),
        Arrays.deepHashCode(times),
        Arrays.deepHashCode(memory));
  }
}
