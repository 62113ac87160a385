package dev.pipewright.exchange;

import dev.pipewright.model.Chain;
import dev.pipewright.model.TiedTable;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A table that is read twice ({@link TiedTable}), by two stages whose steps flow. Each stage has
 * gradients of its own; who holds one exchanges them with who holds the other, and both learn the
 * sum. A micro-batch meets the version of the table that the first of both has for it: it sees the
 * last gradient of an update, and its versions are the older ones where they differ.
 *
 * @param first the earlier stage of a chain, wherever the table counts
 * @param second the later one
 * @param firsts who holds the first
 * @param seconds who holds the second: the same workers, or to each of the first one of its own
 */
public record TiedStages(
    TiedTable table, int first, int second, List<Integer> firsts, List<Integer> seconds) {
  public TiedStages {
    firsts = List.copyOf(firsts);
    seconds = List.copyOf(seconds);
  }

  /** All of a network that are in different stages. */
  public static List<TiedStages> of(Assignment assignment, Chain chain) {
    List<TiedStages> found = new ArrayList<>();
    for (TiedTable table : chain.graph().tiedTables()) {
      int one = TiedStates.depth(assignment, chain, table.layer());
      int other = TiedStates.depth(assignment, chain, table.copyLayer());
      if (one != other) {
        int first = Math.min(one, other);
        int second = Math.max(one, other);
        List<Integer> firsts = assignment.holders(first);
        found.add(new TiedStages(table, first, second, firsts, assignment.holders(second)));
      }
    }
    return found;
  }

  /** Whether every worker that holds one of the stages holds both. */
  public boolean together() {
    return firsts.equals(seconds);
  }

  /** The workers that exchange gradients, the first stage's first; of one of them. */
  public List<Integer> pair(int worker) {
    int place = Math.max(firsts.indexOf(worker), seconds.indexOf(worker));
    return List.of(firsts.get(place), seconds.get(place));
  }

  /** Why the stages cannot have it in common, as the end of a sentence. */
  public Optional<String> refusal(AsyncPipeline asyncPipeline) {
    if (asyncPipeline.inOnePlace()) {
      return Optional.of("whose states go from worker to worker at different times");
    }
    if (asyncPipeline.perUpdate(first) != asyncPipeline.perUpdate(second)) {
      return Optional.of(
          "which are updated after every %d and %d micro-batches"
              .formatted(asyncPipeline.perUpdate(first), asyncPipeline.perUpdate(second)));
    }
    boolean paired = firsts.size() == seconds.size() && Collections.disjoint(firsts, seconds);
    return together() || paired
        ? Optional.empty()
        : Optional.of("which %d and %d workers have".formatted(firsts.size(), seconds.size()));
  }
}
