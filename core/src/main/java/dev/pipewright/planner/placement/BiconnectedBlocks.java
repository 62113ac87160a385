package dev.pipewright.planner.placement;

/**
 * Biconnected components of an undirected graph: edges of which every two lie on a common circle.
 *
 * <p>Paper: J. Hopcroft, R. Tarjan, <i>Algorithm 447: efficient algorithms for graph
 * manipulation</i>, CACM 16 (1973), doi:10.1145/362248.362272; with a stack of our own.
 */
final class BiconnectedBlocks {
  private final int[] from;
  private final int[] to;
  private final int[][] edgesOf;
  private final int[] number; // in the order of discovery, from 1
  private final int[] low;
  private final int[] next;
  private final boolean[] seen; // edges
  private final int[] open; // edges, block not yet known
  private final int[] block; // of each edge
  private int opened;
  private int blocks;
  private int found;

  private BiconnectedBlocks(int nodes, int[] from, int[] to) {
    this.from = from;
    this.to = to;
    int[] ends = new int[2 * from.length];
    int[] edges = new int[2 * from.length];
    for (int edge = 0; edge < from.length; edge++) {
      ends[2 * edge] = from[edge];
      ends[2 * edge + 1] = to[edge];
      edges[2 * edge] = edge;
      edges[2 * edge + 1] = edge;
    }
    edgesOf = Components.adjacency(nodes, ends, edges);
    number = new int[nodes];
    low = new int[nodes];
    next = new int[nodes];
    seen = new boolean[from.length];
    open = new int[from.length];
    block = new int[from.length];
  }

  /** The block of each edge. */
  static int[] of(int nodes, int[] from, int[] to) {
    BiconnectedBlocks blocks = new BiconnectedBlocks(nodes, from, to);
    for (int node = 0; node < nodes; node++) {
      if (blocks.number[node] == 0) {
        blocks.visit(node);
      }
    }
    return blocks.block;
  }

  private void visit(int root) {
    int[] path = new int[number.length];
    int[] by = new int[number.length]; // the edge to each node of the path
    int depth = 0;
    path[0] = root;
    discover(root);
    while (depth >= 0) {
      int node = path[depth];
      if (next[node] == edgesOf[node].length) {
        depth--;
        if (depth >= 0) {
          finish(path[depth], node, by[depth + 1]);
        }
        continue;
      }
      int edge = edgesOf[node][next[node]++];
      if (seen[edge]) {
        continue;
      }
      seen[edge] = true;
      open[opened++] = edge;
      int other = from[edge] == node ? to[edge] : from[edge];
      if (number[other] == 0) {
        discover(other);
        path[++depth] = other;
        by[depth] = edge;
      } else {
        low[node] = Math.min(low[node], number[other]);
      }
    }
  }

  private void discover(int node) {
    number[node] = ++found;
    low[node] = found;
  }

  private void finish(int parent, int node, int edge) {
    low[parent] = Math.min(low[parent], low[node]);
    if (low[node] >= number[parent]) {
      int last;
      do {
        last = open[--opened];
        block[last] = blocks;
      } while (last != edge);
      blocks++;
    }
  }
}
