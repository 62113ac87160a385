package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.StackPart;
import dev.pipewright.predict.paradl.MemoryUse;
import dev.pipewright.predict.paradl.Phase;
import dev.pipewright.predict.paradl.Phases;
import java.util.ArrayList;
import java.util.List;

/** What the bars of a study are made of. */
final class StudyParts {
  /** Of memory, from below: what no schedule changes, then what lives for a while. */
  static final List<StackPart> MEMORY =
      List.of(
          new StackPart("weights", "weights"),
          new StackPart("gradients", "gradients"),
          new StackPart("optimizer", "optimizer"),
          new StackPart("activations", "activations"),
          new StackPart("buffers", "buffers"));

  private StudyParts() {}

  /** Of time, from below, in the order of {@link Phase}. */
  static List<StackPart> phases() {
    List<StackPart> parts = new ArrayList<>();
    for (Phase phase : Phase.values()) {
      parts.add(new StackPart(phase.label(), style(phase)));
    }
    return List.copyOf(parts);
  }

  private static String style(Phase phase) {
    return switch (phase) {
      case FORWARD_BACKWARD -> "compute";
      case WAITING -> "wait";
      case WEIGHT_UPDATE -> "update";
      case LAYER_ALL_GATHER -> "gather";
      case LAYER_ALL_REDUCE -> "reduce";
      case HALO -> "halo";
      case POINT_TO_POINT -> "pass";
      case GRADIENT_EXCHANGE -> "exchange";
    };
  }

  /** Seconds in the order of {@link #phases}. */
  static List<Double> amounts(Phases phases) {
    List<Double> seconds = new ArrayList<>();
    for (Phase phase : Phase.values()) {
      seconds.add(phases.seconds(phase));
    }
    return seconds;
  }

  /** Bytes in the order of {@link #MEMORY}. */
  static List<Double> amounts(MemoryUse memory) {
    return List.of(
        memory.weights(),
        memory.gradients(),
        memory.optimizer(),
        memory.activations(),
        memory.buffers());
  }
}
