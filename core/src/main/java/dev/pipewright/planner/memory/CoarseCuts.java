package dev.pipewright.planner.memory;

import dev.pipewright.cost.StageCosts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Fewer places to cut a network at, where it has too many or branches cross them. */
final class CoarseCuts {
  private CoarseCuts() {}

  /** One way through the branches: from the end, always the longest position that leads there. */
  static StageCosts chain(StageCosts costs) {
    if (costs.total()) {
      return costs;
    }
    List<Integer> places = new ArrayList<>();
    int end = costs.size();
    while (end > 0) {
      places.add(0, end);
      int next = end - 1;
      while (next > 0 && !costs.isStage(next, end)) {
        next--;
      }
      end = next;
    }
    places.add(0, 0);
    return costs.cutOnlyAt(places.stream().mapToInt(place -> place).toArray());
  }

  /** At most so many blocks, each with about as much of the work and of the memory. */
  static StageCosts of(StageCosts costs, int most) {
    int size = costs.size();
    double[] seconds = costs.cheapestSecondsPerSample(1);
    double[] weight = new double[size + 1];
    for (int end = 1; end <= size; end++) {
      double bytes = costs.staticBytes(0, end) + costs.heldBytes(0, end, 1);
      double all = costs.staticBytes(0, size) + costs.heldBytes(0, size, 1);
      weight[end] =
          (all > 0 ? bytes / all : 0) + (seconds[size] > 0 ? seconds[end] / seconds[size] : 0);
    }
    int[] places = new int[most + 1];
    int count = 1;
    for (int end = 1; end <= size; end++) {
      boolean last = end == size;
      double wanted = weight[size] * count / most;
      if (last || (count < most && weight[end] + weight[end + 1] >= 2 * wanted)) {
        places[count++] = costs.inChain(end);
      }
    }
    return costs.cutOnlyAt(Arrays.copyOf(places, count));
  }
}
