package dev.pipewright.cost;

import dev.pipewright.cost.StageCost.Category;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.units.Bytes;
import java.util.EnumMap;
import java.util.Map;

/**
 * Bytes on one device at its peak, of all stages that it holds.
 *
 * @param states what is there all the time
 * @param activationBytes of all micro-batches in flight
 * @param workingBytes what a pass needs beyond that while it recomputes and computes
 * @param capacity the device's memory; the smallest of the devices that hold the same stages
 */
public record PeakMemory(
    States states, double activationBytes, double workingBytes, Bytes capacity) {
  /** Weights, gradients, optimizer state. */
  public double staticBytes() {
    return states.all();
  }

  public double peakBytes() {
    return staticBytes() + activationBytes + workingBytes;
  }

  /** Bytes of a category at the peak. */
  public double bytes(Category category) {
    return categories().getOrDefault(category, 0.0);
  }

  /** Bytes at the peak by what they are for; they add up to it. */
  public Map<Category, Double> categories() {
    Map<Category, Double> bytes = new EnumMap<>(Category.class);
    bytes.put(Category.PARAMETERS, states.parameters());
    bytes.put(Category.GRADIENTS, states.gradients());
    bytes.put(Category.OPTIMIZER, states.optimizer());
    bytes.put(Category.ACTIVATIONS, activationBytes);
    bytes.put(Category.WORKSPACE, workingBytes);
    bytes.put(Category.BUFFERS, 0.0); // the communication library's are not the plan's to fill
    return bytes;
  }

  public boolean fits() {
    return peakBytes() <= capacity.value();
  }

  /** The part of the device's memory that is filled at the peak. */
  public double share() {
    return peakBytes() / capacity.value();
  }
}
