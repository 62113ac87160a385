package dev.pipewright.exchange;

import dev.pipewright.plan.Assignment;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * As long as a rank needs the sums of a stage's gradients while steps flow. One that it hands on is
 * its own no more where it comes again as a whole.
 */
public final class SumUses {
  private final Map<Integer, List<Spent>> spent = new HashMap<>(); // by position of the program
  private final Map<Integer, NavigableMap<Integer, Event>> events = new HashMap<>(); // by update

  /** What happens to a sum; of those at one op the last. */
  private enum Event {
    COMES,
    GROWS,
    IS_READ,
    GOES
  }

  /**
   * A sum that is not needed behind an op, for good or until it comes again.
   *
   * @param update that it is the sum for
   * @param goes whether the op is the one behind which it is handed on
   */
  public record Spent(int update, boolean goes) {}

  private SumUses() {}

  /** Of a rank's own program. */
  public static SumUses of(Assignment all, int depth, int rank, GradientPasses gradientPasses) {
    SumUses uses = new SumUses();
    uses.findEvents(all, depth, rank, gradientPasses);
    uses.events.forEach(uses::findSpent);
    return uses;
  }

  private void findEvents(Assignment all, int depth, int rank, GradientPasses gradientPasses) {
    long[] program = all.schedule().packed(rank);
    for (int at = 0; at < program.length; at++) {
      int stage = Schedule.stage(program[at]);
      if (stage % all.stages().size() == depth) {
        int number = Schedule.microBatch(program[at]);
        switch (Schedule.pass(program[at])) {
          case BACKWARD -> {
            int microBatch = all.inFlow(stage, number);
            put(microBatch / all.asyncPipeline().orElseThrow().perUpdate(depth), at, Event.GROWS);
          }
          case UPDATE -> put(number, at, Event.IS_READ);
          case HAND_ON -> carried(gradientPasses, number, at, Event.COMES);
          default -> {
            // nothing that a sum hears of
          }
        }
        int behind = at;
        gradientPasses
            .over(rank, at)
            .ifPresent(turn -> carried(gradientPasses, turn + 1, behind, Event.GOES));
      }
    }
  }

  private void carried(GradientPasses gradientPasses, int turn, int at, Event event) {
    if (turn < gradientPasses.size() && gradientPasses.comes(turn)) {
      gradientPasses.carried(turn).forEach(update -> put(update, at, event));
    }
  }

  private void put(int update, int at, Event event) {
    events.computeIfAbsent(update, key -> new TreeMap<>()).put(at, event);
  }

  private void findSpent(int update, NavigableMap<Integer, Event> own) {
    own.forEach((at, event) -> {
      Map.Entry<Integer, Event> next = own.higherEntry(at);
      boolean again = event != Event.GROWS && next != null && next.getValue() == Event.COMES;
      if (next == null || again) {
        spent
            .computeIfAbsent(at, key -> new ArrayList<>())
            .add(new Spent(update, event == Event.GOES));
      }
    });
  }

  /** The sums that are not needed behind the op at a position. */
  public List<Spent> spent(int position) {
    return spent.getOrDefault(position, List.of());
  }
}
