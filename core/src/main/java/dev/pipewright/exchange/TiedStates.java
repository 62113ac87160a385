package dev.pipewright.exchange;

import dev.pipewright.model.Chain;
import dev.pipewright.model.TiedTable;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.ZeroStage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;

/**
 * A table that is read twice ({@link TiedTable}) as a worker holds it.
 *
 * @param depths the stages of a chain where the worker has it, ascending; one of them twice where
 *     both are in one stage
 * @param members all workers that hold it or its copy, ascending
 * @param shared whether they share out what belongs to it, but for the parameters themselves
 */
public record TiedStates(
    TiedTable table, List<Integer> depths, List<Integer> members, boolean shared) {
  /** Those of a worker. */
  public static List<TiedStates> of(Assignment assignment, Chain chain, int worker) {
    List<TiedStates> found = new ArrayList<>();
    for (TiedTable table : chain.graph().tiedTables()) {
      int first = depth(assignment, chain, table.layer());
      int second = depth(assignment, chain, table.copyLayer());
      List<Integer> ofFirst = assignment.holders(first);
      List<Integer> ofSecond = first == second ? ofFirst : assignment.holders(second);
      List<Integer> depths = new ArrayList<>();
      if (ofFirst.contains(worker)) {
        depths.add(first);
      }
      if (ofSecond.contains(worker)) {
        depths.add(second);
      }
      if (!depths.isEmpty()) {
        Collections.sort(depths);
        TreeSet<Integer> members = new TreeSet<>(ofFirst);
        members.addAll(ofSecond);
        boolean alike = ofFirst.equals(ofSecond) || Collections.disjoint(ofFirst, ofSecond);
        boolean shares = assignment.sharding() != ZeroStage.NOTHING;
        boolean shared = members.size() > 1 && alike && shares;
        found.add(new TiedStates(table, depths, List.copyOf(members), shared));
      }
    }
    return found;
  }

  /** The stage of a chain that a layer is in. */
  static int depth(Assignment assignment, Chain chain, int layer) {
    for (int depth = 0; depth < assignment.stages().size(); depth++) {
      LayerRange range = assignment.stages().get(depth).range();
      if (Arrays.stream(chain.layers(range.first() - 1, range.last())).anyMatch(l -> l == layer)) {
        return depth;
      }
    }
    throw new IllegalStateException("a layer of no stage: " + layer);
  }

  /** Gradients of it that the worker's passes leave. */
  public int gradients() {
    return depths.size();
  }

  /** Numbers of the worker's part. */
  public long part() {
    return shared ? Math.ceilDiv(table.numbers(), members.size()) : table.numbers();
  }

  /** Numbers of all parts. */
  public long whole() {
    return shared ? part() * members.size() : table.numbers();
  }
}
