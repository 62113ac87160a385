package dev.pipewright.formats.model;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import dev.pipewright.units.Range;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/** Makes networks with profiles, any two different, from a seed. */
public final class RandomModel {
  private static final String LETTERS = "ab \"\\/\n\t\u0001\u007f\u2028é层🙂:{}[]#*&!|>'%@`,-";

  private final SplittableRandom random;

  public RandomModel(long seed) {
    random = new SplittableRandom(seed);
  }

  public SplittableRandom random() {
    return random;
  }

  public boolean flip() {
    return random.nextBoolean();
  }

  /** Some text, among it what needs quotes. */
  public String text() {
    StringBuilder text = new StringBuilder();
    int[] letters = LETTERS.codePoints().toArray();
    for (int length = random.nextInt(1, 12); length > 0; length--) {
      text.appendCodePoint(letters[random.nextInt(letters.length)]);
    }
    return text.toString();
  }

  /** Any magnitude that a quantity may have, the smallest and the largest included. */
  public double amount() {
    return switch (random.nextInt(6)) {
      case 0 -> 0;
      case 1 -> random.nextInt(1_000_000);
      case 2 -> Range.BYTES.least();
      case 3 -> random.nextDouble();
      default ->
          Math.exp(
              random.nextDouble(Math.log(Range.BYTES.least()), Math.log(Range.SECONDS.most())));
    };
  }

  public int count() {
    return random.nextInt(1, 5000);
  }

  private List<Integer> counts() {
    List<Integer> counts = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      counts.add(count());
    }
    return counts;
  }

  public <E> E one(E[] values) {
    return values[random.nextInt(values.length)];
  }

  public ModelFile model() {
    int size = random.nextInt(1, 13);
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      layers.add(layer(i));
    }
    Set<Edge> edges = new LinkedHashSet<>();
    for (int to = 1; to < size; to++) {
      edges.add(new Edge(random.nextInt(to), to));
    }
    LayerGraph graph = new LayerGraph(text(), layers, List.copyOf(edges));
    Optional<Training> training =
        flip()
            ? Optional.of(new Training(one(Optimizer.values()), one(Precision.values())))
            : Optional.empty();
    return new ModelFile(graph, profile(size), training);
  }

  private Layer layer(int number) {
    Operator operator = operator();
    return new Layer(
        number + text(),
        operator,
        flip() ? List.of(operator) : List.of(operator(), operator, operator()),
        flip() ? Optional.of(new Shape(counts())) : Optional.empty(),
        random.nextLong((long) Range.ELEMENTS.most()),
        random.nextLong((long) Range.ELEMENTS.most()),
        count(),
        flip() ? Work.NONE : new Work(amount(), amount(), amount(), amount()));
  }

  private Operator operator() {
    return switch (random.nextInt(22)) {
      case 0 -> new Operator.Input();
      case 1 ->
          new Operator.Convolution(
              count(), count(), counts(), counts(), counts(), counts(), count(), flip());
      case 2 -> new Operator.Linear(count(), count(), flip());
      case 3 -> new Operator.Normalization(one(Operator.Normalization.Kind.values()), count());
      case 4 ->
          new Operator.Pooling(one(Operator.Pooling.Kind.values()), counts(), counts(), counts());
      case 5 -> new Operator.Elementwise(text());
      case 6 -> new Operator.Concatenation();
      case 7 -> new Operator.Embedding(count(), count());
      case 8 -> new Operator.Attention(count(), count(), count());
      case 9 -> new Operator.Lstm(count(), count(), flip(), count());
      case 10 -> new Operator.Block(text());
      case 11 -> new Operator.Tokens(count());
      case 12 -> new Operator.Positions(count(), count());
      case 13 -> new Operator.Segments(count(), count());
      case 14 -> new Operator.ClassToken(count());
      case 15 -> new Operator.Mask(count());
      case 16 -> new Operator.TiedScores(text());
      case 17 -> new Operator.AttentionLstm(count(), count());
      case 18 -> new Operator.Residual(count());
      case 19 -> new Operator.Carried(count());
      case 20 -> new Operator.TransformerBlock(count(), count(), count(), flip(), flip());
      default -> new Operator.Recorded(text());
    };
  }

  private Profile profile(int layers) {
    List<LayerSizes> sizes = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      sizes.add(new LayerSizes(amount(), amount(), amount()));
    }
    List<Integer> samples = new ArrayList<>();
    List<List<LayerTimes>> times = new ArrayList<>();
    for (int batch = random.nextInt(1, 4), at = 0; batch > 0; batch--) {
      at += count();
      samples.add(at);
      times.add(times(layers, random.nextInt(3)));
    }
    Provenance provenance = new Provenance(text(), text(), "2024-05-06", flip());
    List<List<LayerMemory>> memory = new ArrayList<>();
    for (int batch = flip() ? samples.size() : 0; batch > 0; batch--) {
      memory.add(memory(layers));
    }
    return new Profile(provenance, one(Precision.values()), sizes, samples, times, memory);
  }

  private List<LayerMemory> memory(int layers) {
    List<LayerMemory> memory = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      memory.add(new LayerMemory(amount(), amount(), amount(), amount()));
    }
    return memory;
  }

  private List<LayerTimes> times(int layers, int split) {
    List<LayerTimes> times = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      double backward = amount();
      boolean splits = split == 0 || (split == 1 && flip());
      double weight = splits ? backward * random.nextDouble() : Double.NaN;
      double input = splits && flip() ? amount() : Double.NaN;
      times.add(new LayerTimes(amount(), backward, input, weight, amount()));
    }
    return times;
  }
}
