package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every operator by itself, in 64 bits. */
@ExtendWith(DoublePrecision.class)
class ModulesTest {
  private static final double STEP = 1e-5;
  private static final int PROBES = 6; // of each tensor

  static Stream<Case> cases() {
    return Case.all();
  }

  private static ForwardPass pass(boolean inTwoParts) {
    return ForwardPass.training(inTwoParts, SharedStatistics.OWN);
  }

  /** What the gradients of the outputs are in these tests. */
  private static Tensor weights(Tensor output) {
    try (RandomSource random = new RandomSource(17)) {
      return random.normal(1, output.shape());
    }
  }

  private static double loss(Module module, List<Tensor> inputs) {
    Tensor output = module.forward(inputs, pass(false));
    return output.times(weights(output)).sum().item();
  }

  private static List<Tensor> leaves(Module module, List<Tensor> inputs) {
    List<Tensor> leaves = new ArrayList<>(inputs.stream().filter(i -> !i.whole()).toList());
    module.parameters().forEach(parameter -> leaves.add(parameter.value()));
    return leaves;
  }

  private static List<Tensor> gradients(List<Tensor> leaves) {
    return leaves.stream().map(leaf -> leaf.gradient().orElseThrow().copy()).toList();
  }

  private static List<Tensor> wholeBackward(Module module, List<Tensor> inputs) {
    Tensor output = module.forward(inputs, pass(false));
    Gradients.add(List.of(output), List.of(weights(output)));
    List<Tensor> gradients = gradients(leaves(module, inputs));
    leaves(module, inputs).forEach(Tensor::clearGradient);
    return gradients;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void outputsHaveTheShapeOfTheGraph(Case layer) {
    Tensor output = layer.module().forward(layer.inputs(), pass(false));
    List<Integer> shape = Arrays.stream(output.shape()).mapToObj(Math::toIntExact).toList();
    assertEquals(layer.outputShape(), shape);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void gradientsAreDifferencesOfTheLoss(Case layer) {
    Module module = layer.module();
    List<Tensor> inputs = layer.inputs();
    List<Tensor> leaves = leaves(module, inputs);
    List<Tensor> gradients = wholeBackward(module, inputs);
    for (int i = 0; i < leaves.size(); i++) {
      Tensor numbers = leaves.get(i).detached().flattened(0);
      Tensor gradient = gradients.get(i).flattened(0);
      for (int probe = 0; probe < PROBES; probe++) {
        long at = layer.followed((31L * probe + 7) % numbers.elements(), leaves.get(i));
        double measured = difference(module, inputs, numbers.part(0, at, 1));
        double expected = gradient.part(0, at, 1).item();
        assertEquals(measured, expected, 1e-6 + 1e-6 * Math.abs(measured), "tensor " + i);
      }
    }
  }

  private static double difference(Module module, List<Tensor> inputs, Tensor number) {
    return Gradients.without(() -> {
      Tensor step = Tensor.ones(1).times(STEP);
      number.addInPlace(step);
      double above = loss(module, inputs);
      number.addInPlace(step, -2);
      double below = loss(module, inputs);
      number.addInPlace(step);
      return (above - below) / (2 * STEP);
    });
  }

  /** Also that the first part touches no parameter, and that every parameter is noted. */
  @ParameterizedTest
  @MethodSource("cases")
  void twoPartsOfABackwardPassGiveWhatTheWholeGives(Case layer) {
    Module module = layer.module();
    List<Tensor> inputs = layer.inputs();
    List<Tensor> whole = wholeBackward(module, inputs);
    ForwardPass pass = pass(true);
    Tensor output = module.forward(inputs, pass);
    List<Tensor> wanted = new ArrayList<>(inputs.stream().filter(i -> !i.whole()).toList());
    int first = wanted.size();
    wanted.addAll(pass.noted());
    List<Tensor> found = Gradients.of(List.of(output), List.of(weights(output)), wanted, true);
    module.parameters().forEach(p -> assertTrue(p.value().gradient().isEmpty(), p.name()));
    pass.addWeightGradients(found.subList(first, found.size()));
    List<Tensor> parts = new ArrayList<>(found.subList(0, first));
    module.parameters().forEach(p -> parts.add(p.value().gradient().orElseThrow()));
    for (int i = 0; i < parts.size(); i++) {
      assertTrue(whole.get(i).sameAs(parts.get(i)), "tensor " + i);
    }
    pass.clear();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void firstValuesFollowFromTheSeedAlone(Case layer) {
    List<Parameter> once = layer.module().parameters();
    List<Parameter> again = layer.module().parameters();
    for (int i = 0; i < once.size(); i++) {
      assertEquals(once.get(i).name(), again.get(i).name());
      assertTrue(once.get(i).value().sameAs(again.get(i).value()));
      assertTrue(once.get(i).value().finite());
    }
    assertEquals(once.size(), once.stream().map(Parameter::name).distinct().count());
  }
}
