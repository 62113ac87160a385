package dev.pipewright.runtime.tensor;

import dev.pipewright.units.Check;
import java.util.List;
import org.bytedeco.pytorch.Dispatcher;
import org.bytedeco.pytorch.GenericList;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.IValueVector;
import org.bytedeco.pytorch.OperatorHandle;
import org.bytedeco.pytorch.TensorType;
import org.bytedeco.pytorch.Type.TypePtr;

/**
 * Steps of optimizers over many tensors at once, each read and written in one pass over memory.
 * Formulas and order of operations are those of the same steps in single operations.
 *
 * <p>The bindings do not have these functions, so they are found by name, and their arguments come
 * in the order of their schemas.
 */
public final class FusedUpdates {
  private FusedUpdates() {}

  /** Everything that it makes belongs to the scope that is open. */
  private static void call(String name, IValue... arguments) {
    OperatorHandle function = Dispatcher.singleton().findSchemaOrThrow(name, "");
    function.callBoxed(new IValueVector(arguments));
  }

  /**
   * {@code moment ← momentum · moment + gradient}, {@code value ← value − rate · moment}.
   *
   * @param moments one for each value; none at all where the gradients themselves are the step
   * @param decay the share of a value that is added to its gradient
   */
  public static void descend(
      List<Tensor> values,
      List<Tensor> gradients,
      List<Tensor> moments,
      double rate,
      double momentum,
      double decay) {
    checkSizes(values, gradients);
    if (values.isEmpty()) {
      return;
    }
    try (Scope scope = new Scope()) {
      call(
          "aten::_fused_sgd_",
          list(values),
          list(gradients),
          list(moments),
          new IValue(decay),
          new IValue(momentum),
          new IValue(rate),
          new IValue(0.0), // dampening
          no(), // nesterov
          no(), // maximize
          no(), // is_first_step: moments begin at 0
          none(), // grad_scale
          none()); // found_inf
    }
  }

  /**
   * A step of Adam.
   *
   * @param first running averages of gradients, one for each value
   * @param second likewise of their squares
   * @param steps with this one
   * @param shares of the averages so far
   * @param epsilon what keeps it from dividing by 0
   */
  public static void adam(
      List<Tensor> values,
      List<Tensor> gradients,
      List<Tensor> first,
      List<Tensor> second,
      long steps,
      double rate,
      double[] shares,
      double epsilon,
      double decay) {
    checkSizes(values, gradients);
    if (values.isEmpty()) {
      return;
    }
    try (Scope scope = new Scope()) {
      Tensor counted = Tensor.ones().scaleInPlace((double) steps);
      call(
          "aten::_fused_adam_",
          list(values),
          list(gradients),
          list(first),
          list(second),
          list(List.of()), // max_exp_avg_sqs
          list(values.stream().map(value -> counted).toList()),
          new IValue(rate),
          new IValue(shares[0]),
          new IValue(shares[1]),
          new IValue(decay),
          new IValue(epsilon),
          no(), // amsgrad
          no(), // maximize
          none(), // grad_scale
          none()); // found_inf
    }
  }

  private static void checkSizes(List<Tensor> values, List<Tensor> gradients) {
    Check.that(
        values.size() == gradients.size(),
        "each value has a gradient: values=%d, gradients=%d",
        values.size(),
        gradients.size());
  }

  private static IValue no() {
    return new IValue(false);
  }

  private static IValue none() {
    return new IValue();
  }

  private static IValue list(List<Tensor> tensors) {
    GenericList list = new GenericList(new TypePtr(TensorType.get()));
    tensors.forEach(tensor -> list.push_back(new IValue(tensor.handle())));
    return new IValue(list);
  }
}
