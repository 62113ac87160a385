package dev.pipewright.formats.schedule;

import dev.pipewright.formats.schedule.ScheduleAction.Kind;
import dev.pipewright.schedule.Placement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks what a schedule file sends and receives: every receive has its send, each output is sent
 * after its pass and each input received before, and no rank waits for ever. A receive waits for
 * its send; a blocking send also waits for its receive, so that both end together. Every action
 * stands alone: a send and a receive that follow each other are not one batch.
 */
final class ScheduleTransfers {
  /** One transfer: of the activations into a stage, or of the gradients into it. */
  private record Parcel(boolean forward, int stage, int microBatch) {}

  private final Path file;
  private final Placement placement;
  private final List<List<ScheduleAction>> ranks;
  private final boolean blocking;
  private final Map<Parcel, ScheduleAction> sends = new HashMap<>();
  private final Map<Parcel, ScheduleAction> receives = new HashMap<>();
  private final List<FileProblem> problems = new ArrayList<>();

  ScheduleTransfers(
      Path file, Placement placement, List<List<ScheduleAction>> ranks, boolean blocking) {
    this.file = file;
    this.placement = placement;
    this.ranks = ranks;
    this.blocking = blocking;
  }

  List<FileProblem> problems() {
    for (int rank = 0; rank < ranks.size(); rank++) {
      collect(rank);
    }
    sends.forEach((parcel, send) -> {
      if (!receives.containsKey(parcel)) {
        problem(send, "%s is never received".formatted(send));
      }
    });
    receives.forEach((parcel, receive) -> {
      if (!sends.containsKey(parcel)) {
        problem(receive, "%s waits for what no rank sends".formatted(receive));
      }
    });
    for (int rank = 0; rank < ranks.size(); rank++) {
      order(rank);
    }
    if (problems.isEmpty()) {
      deadlock();
    }
    problems.sort(Comparator.comparingInt(FileProblem::line).thenComparingInt(FileProblem::column));
    return problems;
  }

  private void problem(ScheduleAction action, String words) {
    problems.add(action.problem(file, "transfer", placement, words));
  }

  private void collect(int rank) {
    for (ScheduleAction action : ranks.get(rank)) {
      @Nullable Parcel parcel = parcel(action);
      if (action.kind().computes() || action.kind().ofStage()) {
        continue;
      }
      if (placement.rankOf(action.stage()) != rank) {
        problem(action, "%s stands in another rank's line".formatted(action));
      } else if (parcel == null) {
        problem(action, "%s has no other side: there is no such stage".formatted(action));
      } else if ((isSend(action) ? sends : receives).put(parcel, action) != null) {
        problem(action, "%s is there twice".formatted(action));
      }
    }
  }

  private static boolean isSend(ScheduleAction action) {
    return action.kind() == Kind.SEND_F || action.kind() == Kind.SEND_B;
  }

  /** What an action sends or receives; null when it does not, or beyond the ends of the chain. */
  private @Nullable Parcel parcel(ScheduleAction action) {
    int stage = action.stage();
    return switch (action.kind()) {
      case SEND_F ->
          placement.last(stage) ? null : new Parcel(true, stage + 1, action.microBatch());
      case RECV_F -> placement.first(stage) ? null : new Parcel(true, stage, action.microBatch());
      case SEND_B ->
          placement.first(stage) ? null : new Parcel(false, stage - 1, action.microBatch());
      case RECV_B -> placement.last(stage) ? null : new Parcel(false, stage, action.microBatch());
      default -> null;
    };
  }

  /** What a pass needs from another rank; null when nothing. */
  private @Nullable Parcel input(ScheduleAction action) {
    int stage = action.stage();
    return switch (action.kind()) {
      case FORWARD -> across(true, stage, stage - 1, placement.first(stage), action.microBatch());
      case BACKWARD, BACKWARD_INPUT ->
          across(false, stage, stage + 1, placement.last(stage), action.microBatch());
      default -> null;
    };
  }

  private @Nullable Parcel across(
      boolean forward, int stage, int other, boolean end, int microBatch) {
    return end || placement.rankOf(stage) == placement.rankOf(other)
        ? null
        : new Parcel(forward, stage, microBatch);
  }

  private void order(int rank) {
    Set<Parcel> here = new HashSet<>();
    Set<Parcel> made = new HashSet<>();
    for (ScheduleAction action : ranks.get(rank)) {
      @Nullable Parcel parcel = parcel(action);
      @Nullable Parcel needed = input(action);
      if (needed != null && !here.contains(needed)) {
        problem(action, "%s computes on what was not received".formatted(action));
      }
      if (parcel != null && isSend(action) && !made.contains(parcel)) {
        problem(action, "%s sends what is not computed yet".formatted(action));
      } else if (parcel != null) {
        here.add(parcel);
      }
      switch (action.kind()) {
        case FORWARD -> made.add(new Parcel(true, action.stage() + 1, action.microBatch()));
        case BACKWARD, BACKWARD_INPUT ->
            made.add(new Parcel(false, action.stage() - 1, action.microBatch()));
        default -> {}
      }
    }
  }

  /** Runs every rank as far as it gets. */
  private void deadlock() {
    int[] next = new int[ranks.size()];
    Set<Parcel> sent = new HashSet<>();
    boolean moved = true;
    while (moved) {
      moved = false;
      for (int rank = 0; rank < next.length; rank++) {
        while (next[rank] < ranks.get(rank).size() && passes(rank, next, sent)) {
          next[rank]++;
          moved = true;
        }
      }
    }
    for (int rank = 0; rank < next.length; rank++) {
      if (next[rank] < ranks.get(rank).size()) {
        problems.add(ring(rank, next));
        return;
      }
    }
  }

  /** Whether a rank's next action can end; where a blocking one does, its other side ends too. */
  private boolean passes(int rank, int[] next, Set<Parcel> sent) {
    ScheduleAction action = ranks.get(rank).get(next[rank]);
    @Nullable Parcel parcel = parcel(action);
    if (parcel == null) {
      return true;
    }
    if (!blocking) {
      return isSend(action) ? sent.add(parcel) : sent.contains(parcel);
    }
    ScheduleAction other = otherSide(action);
    int peer = placement.rankOf(other.stage());
    List<ScheduleAction> actions = ranks.get(peer);
    boolean meet = next[peer] < actions.size() && actions.get(next[peer]).equals(other);
    next[peer] += meet ? 1 : 0;
    return meet;
  }

  /** Follows the transfers that wait from rank to rank until one comes again. */
  private FileProblem ring(int from, int[] next) {
    List<Integer> order = new ArrayList<>();
    int rank = from;
    while (!order.contains(rank)) {
      order.add(rank);
      rank = placement.rankOf(otherSide(ranks.get(rank).get(next[rank])).stage());
    }
    List<Integer> ring = order.subList(order.indexOf(rank), order.size());
    Collections.rotate(ring, -ring.indexOf(Collections.min(ring)));
    ScheduleAction first = ranks.get(ring.get(0)).get(next[ring.get(0)]);
    StringBuilder words = new StringBuilder();
    List<String> places = new ArrayList<>();
    words.append("rank %d waits for ever in %s: ".formatted(ring.get(0), first));
    for (int i = 0; i < ring.size(); i++) {
      int after = ring.get((i + 1) % ring.size());
      ScheduleAction waiting = ranks.get(ring.get(i)).get(next[ring.get(i)]);
      ScheduleAction needed = otherSide(waiting);
      words.append(
          "%s %s, which rank %d runs after %s"
              .formatted(
                  i == 0 ? "it needs" : "; that needs",
                  needed,
                  after,
                  ranks.get(after).get(next[after])));
      places.add(
          "%s:%d:%d: rank %d waits in %s for %s on rank %d"
              .formatted(
                  file, waiting.line(), waiting.column(), ring.get(i), waiting, needed, after));
    }
    return new FileProblem(
        file,
        first.line(),
        first.column(),
        "deadlock",
        ring.get(0),
        first.stage(),
        first.microBatch(),
        words.toString(),
        places);
  }

  /** The receive of a send, or the send of a receive. */
  private ScheduleAction otherSide(ScheduleAction action) {
    Parcel parcel = Objects.requireNonNull(parcel(action));
    return Objects.requireNonNull((isSend(action) ? receives : sends).get(parcel));
  }
}
