package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.Torch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

class NetworkTest {
  static final String[] NETWORKS = SmallNetwork.NAMES;
  private static final int SAMPLES = 2;

  @BeforeAll
  static void start() {
    Torch.startAlone(1); // as worker processes compute
  }

  @AfterAll
  static void end() {
    Torch.start(1);
  }

  /** What a forward and a backward pass leave behind, by name. */
  private static Map<String, Tensor> run(List<Part> parts, LayerGraph graph) {
    List<Tensor> data = SmallNetwork.samples(graph, SAMPLES, 3);
    List<List<Tensor>> incoming = new ArrayList<>();
    List<List<Tensor>> outgoing = new ArrayList<>();
    List<Tensor> through = List.of();
    for (Part part : parts) {
      List<Tensor> leaves = new ArrayList<>();
      for (int i = 0; i < through.size(); i++) {
        Tensor leaf = through.get(i).detached();
        leaves.add(part.inputNeedsGradient(i) ? leaf.withGradient() : leaf);
        assertEquals(
            Arrays.toString(part.emptyInput(i, SAMPLES).shape()), Arrays.toString(leaf.shape()));
      }
      incoming.add(leaves);
      through = part.forward(leaves, data, ForwardPass.training(false, SharedStatistics.OWN));
      outgoing.add(through);
    }
    LossFunction.Judged judged =
        LossFunction.of(graph)
            .judge(through, SmallNetwork.target(graph, SAMPLES, 4), 1.0 / SAMPLES);
    Map<String, Tensor> left = new LinkedHashMap<>();
    left.put("output", through.get(0).detached());
    List<Tensor> gradients = judged.gradients();
    for (int i = parts.size() - 1; i >= 0; i--) {
      gradients = backward(parts.get(i), incoming.get(i), outgoing.get(i), gradients);
      for (Parameter parameter : parts.get(i).parameters()) {
        left.put(parameter.name(), parameter.value().gradient().orElseThrow());
      }
      parts.get(i).averages().forEach(average -> left.put(average.name(), average.value()));
    }
    return left;
  }

  /** The gradients of what came in, for the tensors that need one. */
  private static List<Tensor> backward(
      Part part, List<Tensor> incoming, List<Tensor> outgoing, List<Tensor> gradients) {
    List<Tensor> outputs = new ArrayList<>();
    for (int i = 0; i < outgoing.size(); i++) {
      if (part.outputHasGradient(i)) {
        outputs.add(outgoing.get(i));
      }
    }
    if (!outputs.isEmpty()) {
      Gradients.add(outputs, gradients);
    }
    List<Tensor> before = new ArrayList<>();
    for (int i = 0; i < incoming.size(); i++) {
      if (part.inputNeedsGradient(i)) {
        before.add(incoming.get(i).gradient().orElseThrow());
      }
    }
    return before;
  }

  /** Parts of the network between some of the positions, each on a worker of its own. */
  private static List<Part> parts(String name, int[] ends) {
    List<Part> parts = new ArrayList<>();
    int first = 0;
    for (int last : ends) {
      parts.add(SmallNetwork.network(name, 7).part(first, last));
      first = last + 1;
    }
    return parts;
  }

  private static int[] everySecond(int[] positions, int offset) {
    return IntStream.range(0, positions.length)
        .filter(i -> i == positions.length - 1 || i % 2 == offset)
        .map(i -> positions[i])
        .toArray();
  }

  private static int[] some(int[] positions, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return IntStream.range(0, positions.length)
        .filter(i -> i == positions.length - 1 || random.nextInt(4) == 0)
        .map(i -> positions[i])
        .toArray();
  }

  @ParameterizedTest
  @FieldSource("NETWORKS")
  @SuppressWarnings("try") // a scope is there to end
  void whereverTheNetworkIsCutTheSameBitsComeOut(String name) {
    try (Scope scope = new Scope()) {
      LayerGraph graph = SmallNetwork.graph(name);
      int[] positions = OnePath.positions(Chain.of(graph));
      int last = positions[positions.length - 1];
      Map<String, Tensor> whole = run(parts(name, new int[] {last}), graph);
      List<int[]> cuts =
          List.of(
              positions, everySecond(positions, 0), everySecond(positions, 1), some(positions, 1));
      for (int[] ends : cuts) {
        Map<String, Tensor> cut = run(parts(name, ends), graph);
        assertEquals(whole.keySet(), cut.keySet());
        whole.forEach((what, tensor) ->
            assertTrue(
                tensor.sameAs(Objects.requireNonNull(cut.get(what))),
                what + Arrays.toString(ends)));
      }
    }
  }

  @ParameterizedTest
  @FieldSource("NETWORKS")
  void parametersAreAsManyAsTheGraphSays(String name) {
    countParameters(SmallNetwork.network(name, 1));
  }

  @Test
  void parametersOfInceptionAreAsManyAsTheGraphSays() {
    countParameters(SmallNetwork.network("inception-v3", 1));
  }

  private static void countParameters(Network network) {
    Set<String> names = new HashSet<>();
    Set<String> copies = new HashSet<>();
    network.tied().forEach(tied -> copies.add(tied.copy()));
    for (int layer = 0; layer < network.graph().size(); layer++) {
      long count = 0;
      for (Parameter parameter : network.module(layer).parameters()) {
        assertTrue(names.add(parameter.name()), parameter.name());
        assertTrue(parameter.value().finite(), parameter.name());
        count += copies.contains(parameter.name()) ? 0 : parameter.value().elements();
        parameter.value().close();
      }
      assertEquals(network.graph().layer(layer).parameters(), count, "layer " + layer);
    }
  }

  @ParameterizedTest
  @FieldSource("NETWORKS")
  void aFewStepsOnTheSameSamplesMakeTheLossSmaller(String name) {
    LayerGraph graph = SmallNetwork.graph(name);
    Part part = SmallNetwork.network(name, 2).part(0, Chain.of(graph).size() - 1);
    double first = step(part, graph, 0.02);
    for (int i = 0; i < 6; i++) {
      step(part, graph, 0.02);
    }
    double last = step(part, graph, 0);
    assertTrue(last < first, first + " became " + last);
  }

  @SuppressWarnings("try")
  private static double step(Part part, LayerGraph graph, double rate) {
    try (Scope scope = new Scope()) {
      List<Tensor> data = SmallNetwork.samples(graph, 4, 3);
      Tensor target = SmallNetwork.target(graph, 4, 4);
      List<Tensor> out =
          part.forward(List.of(), data, ForwardPass.training(false, SharedStatistics.OWN));
      LossFunction.Judged judged = LossFunction.of(graph).judge(out, target, 0.25);
      Gradients.add(out, judged.gradients());
      for (Parameter parameter : part.parameters()) {
        Tensor gradient = parameter.value().gradient().orElseThrow();
        parameter.value().detached().addInPlace(gradient, -rate);
        parameter.value().clearGradient();
      }
      return judged.loss();
    }
  }

  @Test
  void otherSeedsGiveOtherNumbers() {
    Part one = SmallNetwork.network(SmallNetwork.NAMES[0], 1).part(0, 1);
    Part other = SmallNetwork.network(SmallNetwork.NAMES[0], 2).part(0, 1);
    assertFalse(one.parameters().get(0).value().sameAs(other.parameters().get(0).value()));
  }

  @Test
  void aHeadThatReadsTheTableStartsWithTheSameNumbers() {
    Network network = SmallNetwork.network(SmallNetwork.NAMES[6], 9);
    Tied tied = network.tied().get(0);
    assertEquals(List.of(new Tied(0, "embedding.weight", 4, "head.weight")), network.tied());
    assertTrue(
        value(network, tied.layer(), tied.parameter())
            .sameAs(value(network, tied.copyLayer(), tied.copy())));
    assertEquals(List.of(), SmallNetwork.network("gpt-8x256", 9).tied());
  }

  private static Tensor value(Network network, int layer, String name) {
    return network.module(layer).parameters().stream()
        .filter(parameter -> parameter.name().equals(name))
        .findFirst()
        .orElseThrow()
        .value();
  }

  /** A part may not begin inside a branch, and some networks only have sizes. */
  @Test
  void whatCannotBeRunIsRefusedInASentence() {
    Network xlnet = SmallNetwork.network("xlnet-36", 1);
    var unknown = assertThrows(IllegalArgumentException.class, () -> xlnet.module(1));
    assertEquals(
        "xlnet-36 cannot be trained: of its layer block-1 (transformer block) only sizes and times"
            + " are known",
        unknown.getMessage());
    Network resnet = SmallNetwork.network(SmallNetwork.NAMES[2], 1);
    Chain chain = Chain.of(resnet.graph());
    int torn = 1;
    while (chain.precedes(torn - 1, torn)) {
      torn++;
    }
    int first = torn;
    assertThrows(IllegalArgumentException.class, () -> resnet.part(first, first));
  }

  @Test
  void volumesAreJudgedByTheirSquaredErrorAndAllElseByItsScores() {
    for (String name : SmallNetwork.NAMES) {
      LossFunction objective = LossFunction.of(SmallNetwork.graph(name));
      assertEquals(name.startsWith("cosmoflow"), objective == LossFunction.SQUARED_ERROR, name);
    }
  }
}
