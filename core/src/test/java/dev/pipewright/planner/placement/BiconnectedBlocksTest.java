package dev.pipewright.planner.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** Two edges share a block if no single node parts them: tried with every node left out. */
class BiconnectedBlocksTest {
  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void edgesOfABlockStayTogetherWhateverNodeIsLeftOut(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int nodes = random.nextInt(2, 8);
    double density = random.nextDouble(0.1, 0.8);
    int[] from = new int[nodes * nodes];
    int[] to = new int[nodes * nodes];
    int count = 0;
    for (int node = 0; node < nodes; node++) {
      for (int other = 0; other < node; other++) {
        if (random.nextDouble() < density) {
          from[count] = random.nextBoolean() ? node : other;
          to[count] = from[count] == node ? other : node;
          count++;
        }
      }
    }
    int[] ends = Arrays.copyOf(from, count);
    int[] others = Arrays.copyOf(to, count);
    int[] block = BiconnectedBlocks.of(nodes, ends, others);
    for (int edge = 0; edge < count; edge++) {
      for (int second = 0; second < edge; second++) {
        boolean together = true;
        for (int out = -1; out < nodes && together; out++) {
          int[] part = without(out, nodes, ends, others);
          together = part[end(ends, others, edge, out)] == part[end(ends, others, second, out)];
        }
        assertEquals(together, block[edge] == block[second]);
      }
    }
  }

  private static int end(int[] from, int[] to, int edge, int out) {
    return from[edge] == out ? to[edge] : from[edge];
  }

  /** The connected part of each node. */
  private static int[] without(int out, int nodes, int[] from, int[] to) {
    int[] part = new int[nodes];
    Arrays.setAll(part, node -> node);
    for (int round = 0; round < nodes; round++) {
      for (int edge = 0; edge < from.length; edge++) {
        if (from[edge] != out && to[edge] != out) {
          int least = Math.min(part[from[edge]], part[to[edge]]);
          part[from[edge]] = least;
          part[to[edge]] = least;
        }
      }
    }
    return part;
  }
}
