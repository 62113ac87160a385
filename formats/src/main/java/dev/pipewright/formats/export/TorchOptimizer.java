package dev.pipewright.formats.export;

import dev.pipewright.model.Optimizer;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An update rule as a class of {@code torch.optim}, by whose names DeepSpeed finds it, too.
 *
 * @param name of the class
 * @param settings the learning rate, which the user chooses, and what makes the class this rule
 */
record TorchOptimizer(String name, Map<String, Double> settings) {
  private static final double USUAL_MOMENTUM = 0.9;

  static TorchOptimizer of(Optimizer rule) {
    Map<String, Double> settings = new LinkedHashMap<>();
    settings.put("lr", 1e-4);
    if (rule == Optimizer.MOMENTUM) {
      settings.put("momentum", USUAL_MOMENTUM);
    }
    String name =
        switch (rule) {
          case SGD, MOMENTUM -> "SGD";
          case RMSPROP -> "RMSprop";
          case ADAM -> "Adam";
        };
    return new TorchOptimizer(name, settings);
  }
}
