package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Collective operations as rounds of messages; a round begins when all messages of the one before
 * have landed.
 *
 * <p>Sources: ring — P. Patarasuk, X. Yuan, <i>Bandwidth optimal all-reduce algorithms</i>, JPDC 69
 * (2009): all-reduce in 2(n−1) rounds of an n-th of the data, all-gather in half of them. Tree —
 * binomial: each round doubles the ranks that have everything; an all-reduce adds up on the way to
 * the root and comes back. Hierarchical — each node scatters among its ranks, equal places of all
 * nodes exchange their parts in rings, each node gathers; a plain ring where nodes hold different
 * numbers of the ranks.
 */
public final class CollectiveRounds {
  private enum Kind {
    RING,
    TREE,
    HIERARCHICAL
  }

  /** What one rank sends to another. */
  record Message(int from, int to, double bytes) {}

  private final Kind kind;
  private final int perNode;

  private CollectiveRounds(Kind kind, int perNode) {
    this.kind = kind;
    this.perNode = perNode;
  }

  public static CollectiveRounds ring() {
    return new CollectiveRounds(Kind.RING, 1);
  }

  public static CollectiveRounds tree() {
    return new CollectiveRounds(Kind.TREE, 1);
  }

  /** Ranks {@code 0..perNode−1} are the first node, and so on. */
  public static CollectiveRounds hierarchical(int perNode) {
    Check.that(perNode >= 1, "a node has ranks: per_node=%d", perNode);
    return new CollectiveRounds(Kind.HIERARCHICAL, perNode);
  }

  /**
   * The messages of one operation, round by round.
   *
   * @param pass {@code REDUCE}: all get the sum; {@code GATHER}: all get the whole
   * @param bytes of the whole
   */
  List<List<Message>> of(Pass pass, List<Integer> ranks, double bytes) {
    boolean sum = pass == Pass.REDUCE;
    List<Integer> sorted = ranks.stream().sorted().toList();
    return switch (kind) {
      case RING -> ring(sorted, bytes, sum ? 2 : 1);
      case TREE -> tree(sorted, bytes, sum);
      case HIERARCHICAL -> hierarchical(sorted, bytes, sum);
    };
  }

  /** Once around scatters a sum, or gathers the whole; twice does both. */
  private static List<List<Message>> ring(List<Integer> ranks, double bytes, int times) {
    int n = ranks.size();
    List<Message> round = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      round.add(new Message(ranks.get(i), ranks.get((i + 1) % n), bytes / n));
    }
    return Collections.nCopies(times * (n - 1), round);
  }

  private static List<List<Message>> tree(List<Integer> ranks, double bytes, boolean sum) {
    List<List<Message>> rounds = new ArrayList<>();
    for (int have = 1; have < ranks.size(); have *= 2) {
      List<Message> down = new ArrayList<>();
      List<Message> up = new ArrayList<>();
      for (int i = have; i < Math.min(2 * have, ranks.size()); i++) {
        down.add(new Message(ranks.get(i - have), ranks.get(i), bytes));
        up.add(new Message(ranks.get(i), ranks.get(i - have), bytes));
      }
      rounds.addLast(down);
      if (sum) {
        rounds.addFirst(up);
      }
    }
    return rounds;
  }

  private List<List<Message>> hierarchical(List<Integer> ranks, double bytes, boolean sum) {
    Collection<List<Integer>> nodes =
        ranks.stream().collect(Collectors.groupingBy(rank -> rank / perNode)).values();
    int size = nodes.iterator().next().size();
    if (nodes.stream().anyMatch(node -> node.size() != size)) {
      return ring(ranks, bytes, sum ? 2 : 1);
    }
    List<List<List<Message>>> inside = new ArrayList<>();
    nodes.forEach(node -> inside.add(ring(node, bytes, 1)));
    List<List<List<Message>>> across = new ArrayList<>();
    for (int place = 0; place < size; place++) {
      int at = place;
      List<Integer> alike = nodes.stream().map(node -> node.get(at)).sorted().toList();
      across.add(ring(alike, bytes / size, sum ? 2 : 1));
    }
    List<List<Message>> rounds = new ArrayList<>(sum ? together(inside) : List.of());
    rounds.addAll(together(across));
    rounds.addAll(together(inside));
    return rounds;
  }

  /** Several operations of as many rounds at the same time. */
  private static List<List<Message>> together(List<List<List<Message>>> operations) {
    List<List<Message>> rounds = new ArrayList<>();
    for (int i = 0; i < operations.getFirst().size(); i++) {
      List<Message> round = new ArrayList<>();
      for (List<List<Message>> operation : operations) {
        round.addAll(operation.get(i));
      }
      rounds.add(round);
    }
    return rounds;
  }
}
