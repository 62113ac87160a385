package dev.pipewright.model;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** PipeDream's augmented antichains as its program is described, by sets and reachability alone. */
public final class LiteralAntichains {
  private LiteralAntichains() {}

  /** The sum over the augmented antichain of each position of a chain. */
  public static double[] crossing(Chain chain, double[] perLayer) {
    double[] sums = new double[chain.size()];
    for (int position = 0; position < sums.length; position++) {
      for (int layer : augmented(chain, position)) {
        sums[position] += perLayer[layer];
      }
    }
    return sums;
  }

  private static Set<Integer> augmented(Chain chain, int position) {
    LayerGraph graph = chain.graph();
    Set<Integer> all = new TreeSet<>();
    IntStream.of(chain.layers(-1, position)).forEach(all::add);
    Set<Integer> augmented = new TreeSet<>();
    for (int member : all) {
      if (all.stream().noneMatch(other -> other != member && leads(graph, member, other))) {
        augmented.add(member);
        Set<Integer> predecessors = new TreeSet<>();
        all.stream().filter(other -> leads(graph, other, member)).forEach(predecessors::add);
        predecessors.remove(member);
        for (int predecessor : predecessors) {
          for (int reader : graph.successors(predecessor)) {
            if (!predecessors.contains(reader) && reader != member) {
              augmented.add(predecessor);
            }
          }
        }
      }
    }
    return augmented;
  }

  private static boolean leads(LayerGraph graph, int from, int to) {
    return from == to
        || IntStream.of(graph.successors(from)).anyMatch(next -> leads(graph, next, to));
  }
}
