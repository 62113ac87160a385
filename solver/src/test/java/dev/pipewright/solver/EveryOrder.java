package dev.pipewright.solver;

import dev.pipewright.schedule.Placement;
import dev.pipewright.solver.ScheduleProblem.Goal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The referee: all states that a step of whole seconds can be in, second by second. In each second
 * every free rank starts any op that is ready, or idles; micro-batches may overtake each other.
 */
final class EveryOrder {
  private static final char WAITING = Character.MAX_VALUE;

  private final ScheduleProblem problem;
  private final int passes;
  private final int[] rank; // by op: (stage · passes + pass) · micro-batches + micro-batch
  private final int[] seconds;
  private final int[] transfer;
  private final int[] deadline; // by rank
  private Set<String> next = new HashSet<>();

  private EveryOrder(ScheduleProblem problem) {
    this.problem = problem;
    Placement placement = problem.placement();
    passes = problem.split() ? 3 : 2;
    int ops = placement.stages() * passes * problem.microBatches();
    rank = new int[ops];
    seconds = new int[ops];
    transfer = new int[ops];
    deadline = new int[placement.ranks()];
    for (int op = 0; op < ops; op++) {
      int stage = stage(op);
      var times = problem.times();
      rank[op] = placement.rankOf(stage);
      int input = (int) times.input()[stage];
      int weight = (int) times.weight()[stage];
      seconds[op] =
          switch (pass(op)) {
            case 0 -> (int) times.forward()[stage];
            case 1 -> input + (problem.split() ? 0 : weight);
            default -> weight;
          };
      if (pass(op) == 0 && !placement.last(stage) && placement.rankOf(stage + 1) != rank[op]) {
        transfer[op] = (int) times.there()[stage];
      } else if (pass(op) == 1
          && !placement.first(stage)
          && placement.rankOf(stage - 1) != rank[op]) {
        transfer[op] = (int) times.back()[stage - 1];
      }
    }
  }

  /** The best value of any order. */
  static int best(ScheduleProblem problem) {
    EveryOrder search = new EveryOrder(problem);
    int value = 0;
    do {
      value++;
    } while (!search.reaches(value));
    return value;
  }

  private int stage(int op) {
    return op / problem.microBatches() / passes;
  }

  private int pass(int op) {
    return op / problem.microBatches() % passes;
  }

  private boolean reaches(int value) {
    int head = 0;
    for (int r = 0; r < deadline.length; r++) {
      deadline[r] = value + head;
      if (problem.goal() == Goal.SPAN) {
        int first = r * passes * problem.microBatches();
        head += seconds[first] + transfer[first];
      }
    }
    char[] start = new char[rank.length];
    Arrays.fill(start, WAITING);
    Set<String> states = Set.of(new String(start));
    for (int now = 0; !states.isEmpty(); now++) {
      next = new HashSet<>();
      for (String state : states) {
        if (inTime(state, now)) {
          if (finished(state)) {
            return true;
          }
          choose(state, state.toCharArray(), 0);
        }
      }
      states = next;
    }
    return false;
  }

  /** Whether every rank can still run what it has to before its deadline. */
  private boolean inTime(String state, int now) {
    int[] left = new int[deadline.length];
    for (int op = 0; op < rank.length; op++) {
      left[rank[op]] +=
          state.charAt(op) == WAITING ? seconds[op] : Math.max(0, state.charAt(op) - transfer[op]);
    }
    for (int r = 0; r < left.length; r++) {
      if (left[r] > 0 && now + left[r] > deadline[r]) {
        return false;
      }
    }
    return true;
  }

  private boolean finished(String state) {
    for (int op = 0; op < rank.length; op++) {
      if (!ended(state, op)) {
        return false;
      }
    }
    return true;
  }

  private boolean ended(String state, int op) {
    return state.charAt(op) <= transfer[op];
  }

  private void choose(String state, char[] chosen, int r) {
    if (r == deadline.length) {
      char[] later = chosen.clone();
      for (int op = 0; op < later.length; op++) {
        if (later[op] != WAITING && later[op] != 0) {
          later[op]--;
        }
      }
      next.add(new String(later));
      return;
    }
    choose(state, chosen, r + 1);
    for (int op : ready(state, r)) {
      chosen[op] = (char) (seconds[op] + transfer[op]);
      choose(state, chosen, r + 1);
      chosen[op] = WAITING;
    }
  }

  private List<Integer> ready(String state, int r) {
    int held = 0;
    List<Integer> ready = new ArrayList<>();
    for (int op = 0; op < rank.length; op++) {
      if (rank[op] == r) {
        if (state.charAt(op) != WAITING && !ended(state, op)) {
          return List.of();
        }
        held += pass(op) == 0 && state.charAt(op) != WAITING ? 1 : 0;
        held -= pass(op) == passes - 1 && state.charAt(op) != WAITING ? 1 : 0;
        if (state.charAt(op) == WAITING && fed(state, op)) {
          ready.add(op);
        }
      }
    }
    boolean full = held == problem.cap()[r];
    ready.removeIf(op -> full && pass(op) == 0);
    return ready;
  }

  private boolean fed(String state, int op) {
    int stage = stage(op);
    int row = passes * problem.microBatches();
    Placement placement = problem.placement();
    return switch (pass(op)) {
      case 0 -> placement.first(stage) || arrived(state, op - row, rank[op]);
      case 1 ->
          ended(state, op - problem.microBatches())
              && (placement.last(stage) || arrived(state, op + row, rank[op]));
      default -> ended(state, op - problem.microBatches());
    };
  }

  private boolean arrived(String state, int op, int at) {
    return rank[op] == at ? ended(state, op) : state.charAt(op) == 0;
  }
}
