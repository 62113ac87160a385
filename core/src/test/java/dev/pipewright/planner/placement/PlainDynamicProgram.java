package dev.pipewright.planner.placement;

import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import java.util.Arrays;

/**
 * The paper's dynamic program as it is written: all ideals within all ideals, without bounds, for
 * forward passes of few operators without colours.
 */
final class PlainDynamicProgram {
  private final OperatorGraph graph;
  private final int[] readers; // of each operator, as bits
  private final int[] needs;

  private PlainDynamicProgram(OperatorGraph graph) {
    this.graph = graph;
    readers = new int[graph.size()];
    needs = new int[graph.size()];
    for (Edge edge : graph.edges()) {
      readers[edge.from()] |= 1 << edge.to();
      needs[edge.to()] |= 1 << edge.from();
    }
  }

  /** Smallest largest load; infinite where nothing fits. */
  static double best(OperatorGraph graph) {
    return new PlainDynamicProgram(graph).best();
  }

  private double best() {
    int accelerators = graph.devices().accelerators();
    int processors = graph.devices().processors();
    int full = (1 << graph.size()) - 1;
    double[][][] best = new double[processors + 1][accelerators + 1][full + 1];
    for (int host = 0; host <= processors; host++) {
      for (int with = 0; with <= accelerators; with++) {
        Arrays.fill(best[host][with], Double.POSITIVE_INFINITY);
        best[host][with][0] = 0;
        for (int ideal = 1; ideal <= full; ideal++) {
          for (int within = (ideal - 1) & ideal; isIdeal(ideal) && within >= 0; within--) {
            within &= ideal;
            if (isIdeal(within)) {
              int set = ideal & ~within;
              double least = best[host][with][ideal];
              if (with > 0) {
                least = Math.min(least, Math.max(best[host][with - 1][within], load(set)));
              }
              if (host > 0) {
                least = Math.min(least, Math.max(best[host - 1][with][within], hosted(set)));
              }
              best[host][with][ideal] = least;
            }
          }
          if (with > 0) {
            best[host][with][ideal] =
                Math.min(best[host][with][ideal], best[host][with - 1][ideal]);
          }
          if (host > 0) {
            best[host][with][ideal] =
                Math.min(best[host][with][ideal], best[host - 1][with][ideal]);
          }
        }
      }
    }
    return best[processors][accelerators][full];
  }

  private boolean isIdeal(int set) {
    for (int i = 0; i < needs.length; i++) {
      if ((set >> i & 1) == 1 && (needs[i] & ~set) != 0) {
        return false;
      }
    }
    return true;
  }

  private double load(int set) {
    double load = 0;
    double bytes = 0;
    for (int i = 0; i < needs.length; i++) {
      Operator operator = graph.operator(i);
      boolean here = (set >> i & 1) == 1;
      if (here && !operator.onAccelerator()) {
        return Double.POSITIVE_INFINITY;
      }
      load += here ? operator.acceleratorTime() : 0;
      bytes += here ? operator.bytes() : 0;
      boolean cut = here ? (readers[i] & ~set) != 0 : (readers[i] & set) != 0;
      load += cut ? operator.transferTime() : 0;
    }
    return bytes > graph.devices().acceleratorBytes() ? Double.POSITIVE_INFINITY : load;
  }

  private double hosted(int set) {
    double time = 0;
    for (int i = 0; i < needs.length; i++) {
      time += (set >> i & 1) == 1 ? graph.operator(i).processorTime() : 0;
    }
    return time;
  }
}
