package dev.pipewright.planner.placement;

import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;

/** Small operator graphs with everything that the format allows. */
final class RandomWorkload {
  private final SplittableRandom random;
  private final List<Operator> operators = new ArrayList<>();
  private final List<Edge> edges = new ArrayList<>();

  private RandomWorkload(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Of at most seven colours, on at most four devices. */
  static OperatorGraph of(long seed) {
    return new RandomWorkload(seed).graph();
  }

  private OperatorGraph graph() {
    boolean training = random.nextBoolean();
    boolean picky = random.nextInt(4) == 0;
    int forward = random.nextInt(2, 8);
    for (int i = 0; i < forward; i++) {
      long colour = random.nextInt(4) == 0 ? random.nextInt(forward) : i;
      operators.add(operator(false, picky, OptionalLong.of(colour)));
    }
    if (random.nextInt(3) == 0) {
      operators.set(0, operator(false, picky, OptionalLong.empty()));
    }
    double density = random.nextDouble(0.1, 0.7);
    join(0, forward, density);
    if (training) {
      int backward = random.nextInt(1, forward + 1);
      for (int i = 0; i < backward; i++) {
        long colour = random.nextInt(5) == 0 ? forward : forward - 1 - i;
        operators.add(operator(true, picky, OptionalLong.of(colour)));
      }
      join(forward, operators.size(), density);
      for (int i = 0; i < forward; i++) {
        edges.add(new Edge(random.nextInt(forward), random.nextInt(forward, operators.size())));
      }
    }
    int accelerators = random.nextInt(0, 4);
    int processors = accelerators == 0 ? random.nextInt(1, 3) : random.nextInt(0, 2);
    double bytes = random.nextBoolean() ? 1e9 : random.nextInt(4, 25);
    return new OperatorGraph(
        "random", new Devices(accelerators, processors, bytes), operators, edges);
  }

  private void join(int first, int end, double density) {
    for (int from = first; from < end; from++) {
      for (int to = from + 1; to < end; to++) {
        if (random.nextDouble() < density) {
          edges.add(new Edge(from, to));
        }
      }
    }
  }

  /** Whole numbers, so that ties and cuts to the last byte happen; some take no time. */
  private Operator operator(boolean backward, boolean picky, OptionalLong colour) {
    boolean idle = random.nextInt(4) == 0;
    int time = idle ? 0 : random.nextInt(1, 9);
    return new Operator(
        operators.size(),
        "operator",
        !picky || random.nextInt(6) > 0,
        idle ? 0 : time * random.nextInt(1, 6),
        time,
        random.nextInt(0, 4),
        random.nextInt(0, 7),
        backward,
        colour);
  }
}
