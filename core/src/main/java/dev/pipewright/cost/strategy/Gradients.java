package dev.pipewright.cost.strategy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Bytes of gradients in one message.
 *
 * @param own summed with the devices of other groups that hold the same weights
 * @param shared summed with the devices of the own group as well
 */
record Gradients(double own, double shared) {
  private Gradients plus(Gradients that) {
    return new Gradients(own + that.own, shared + that.shared);
  }

  /** One message for the whole network. */
  static Gradients all(IntFunction<Gradients> ofLayer, int layers) {
    Gradients sum = new Gradients(0, 0);
    for (int layer = 0; layer < layers; layer++) {
      sum = sum.plus(ofLayer.apply(layer));
    }
    return sum;
  }

  /** One message for each product, with what follows it up to the next. */
  static List<Gradients> byLayer(IntFunction<Gradients> ofLayer, Network network) {
    List<Gradients> messages = new ArrayList<>();
    Gradients message = new Gradients(0, 0);
    for (int layer = 0; layer < network.size(); layer++) {
      if (network.layer(layer).kind().product()) {
        messages.add(message);
        message = new Gradients(0, 0);
      }
      message = message.plus(ofLayer.apply(layer));
    }
    messages.add(message);
    return messages;
  }
}
