package dev.pipewright.planner.placement;

/**
 * Strongly connected components of a directed graph.
 *
 * <p>Paper: R. Tarjan, <i>Depth-first search and linear graph algorithms</i>, SIAM J. Comput. 1
 * (1972), doi:10.1137/0201010; with a stack of our own, since networks are deep.
 */
final class Components {
  private final int[][] successors;
  private final int[] number; // in the order of discovery, from 1
  private final int[] low; // the earliest that is reached
  private final int[] part;
  private final int[] open; // discovered, component not yet known
  private final int[] path;
  private final int[] next; // successor of a node to look at
  private int opened;
  private int found;
  private int parts;

  private Components(int[][] successors) {
    this.successors = successors;
    int nodes = successors.length;
    number = new int[nodes];
    low = new int[nodes];
    part = new int[nodes];
    open = new int[nodes];
    path = new int[nodes];
    next = new int[nodes];
  }

  /** The component of each node, numbered so that every edge leads to the same or a lower one. */
  static int[] of(int nodes, int[] from, int[] to) {
    Components components = new Components(adjacency(nodes, from, to));
    for (int node = 0; node < nodes; node++) {
      if (components.number[node] == 0) {
        components.visit(node);
      }
    }
    return components.part;
  }

  /** For each node where its edges lead. */
  static int[][] adjacency(int nodes, int[] from, int[] to) {
    int[] degree = new int[nodes];
    for (int node : from) {
      degree[node]++;
    }
    int[][] adjacency = new int[nodes][];
    for (int node = 0; node < nodes; node++) {
      adjacency[node] = new int[degree[node]];
    }
    for (int edge = from.length - 1; edge >= 0; edge--) {
      adjacency[from[edge]][--degree[from[edge]]] = to[edge];
    }
    return adjacency;
  }

  private void visit(int root) {
    int depth = 0;
    path[0] = root;
    discover(root);
    while (depth >= 0) {
      int node = path[depth];
      if (next[node] < successors[node].length) {
        int successor = successors[node][next[node]++];
        if (number[successor] == 0) {
          discover(successor);
          path[++depth] = successor;
        } else if (part[successor] < 0) {
          low[node] = Math.min(low[node], number[successor]);
        }
      } else {
        depth--;
        if (depth >= 0) {
          low[path[depth]] = Math.min(low[path[depth]], low[node]);
        }
        if (low[node] == number[node]) {
          close(node);
        }
      }
    }
  }

  private void discover(int node) {
    number[node] = ++found;
    low[node] = found;
    part[node] = -1;
    open[opened++] = node;
  }

  private void close(int root) {
    int node;
    do {
      node = open[--opened];
      part[node] = parts;
    } while (node != root);
    parts++;
  }
}
