package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import tools.jackson.databind.JsonNode;

/** Plans of networks that follow from a seed, and their figures. */
final class SeededPlans {
  static final double SAME = 1e-9;
  static final String ZOO = "gpt:layers=4,hidden=128,heads=4,sequence=64,vocabulary=500";

  private SeededPlans() {}

  /** A chain of six layers, of which the first outputs and the last parameters are large. */
  static Path model(Path folder, int seed) {
    var random = new SplittableRandom(seed);
    StringBuilder graph = new StringBuilder();
    for (int layer = 1; layer <= 6; layer++) {
      graph.append(
          "node%d -- L%d -- forward_compute_time=%d, backward_compute_time=%d, activation_size=%d, parameter_size=%d\n"
              .formatted(
                  layer,
                  layer,
                  random.nextInt(1, 9),
                  random.nextInt(2, 17),
                  random.nextInt(1, 9) * 8_000_000 / layer,
                  random.nextInt(1, 9) * 1_000_000 * layer));
    }
    for (int layer = 1; layer < 6; layer++) {
      graph.append("\tnode%d -- node%d\n".formatted(layer, layer + 1));
    }
    return Cli.file(folder, "model.txt", graph.toString());
  }

  static Cli plan(Path folder, String planner, int seed, String... more) {
    List<String> args = new ArrayList<>(List.of("--planner", planner, "--global-batch", "16"));
    if (seed > 0) {
      args.addAll(List.of("--profile-batch", "2"));
    }
    args.addAll(List.of(more));
    Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
    return Cli.plan(seed == 0 ? ZOO : model(folder, seed), cluster, args.toArray(String[]::new));
  }

  static double number(JsonNode node, String path) {
    assertTrue(node.at(path).isNumber(), () -> "no " + path + " in " + node);
    return node.at(path).asDouble();
  }

  static void same(JsonNode a, JsonNode b, String path) {
    double value = number(a, path);
    assertEquals(value, number(b, path), SAME * value, path);
  }
}
