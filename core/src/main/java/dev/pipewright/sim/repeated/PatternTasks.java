package dev.pipewright.sim.repeated;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.RepeatedOp;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The ops of a periodic pattern as tasks: by start, as each rank runs them. */
public final class PatternTasks {
  private PatternTasks() {}

  /**
   * One task for each op, in the order of {@link Pattern#ops}.
   *
   * @param onTime whether no op starts before the pattern says so; as soon as it can otherwise
   * @param slowness how many times as long each rank takes; as usual for those that are not named
   */
  public static List<Task> of(Pattern pattern, boolean onTime, double... slowness) {
    List<RepeatedOp> ops = pattern.ops();
    Map<Integer, Integer> places = new HashMap<>(); // by link and batch of the period
    for (int place = 0; place < ops.size(); place++) {
      places.put(key(pattern, ops.get(place), 0), place);
    }
    List<Task> tasks = new ArrayList<>();
    for (RepeatedOp op : ops) {
      int rank = pattern.placement().rankOf(op.stage());
      double slow = rank < slowness.length ? slowness[rank] : 1;
      Integer before = places.get(key(pattern, op, 1));
      tasks.add(
          new Task(
              rank,
              pattern.seconds(op) * slow,
              op.shift(),
              onTime ? op.start() : 0,
              before == null ? List.of() : List.of(before)));
    }
    return tasks;
  }

  /** Of the op so many places before this one in its batch's way through the stages. */
  private static int key(Pattern pattern, RepeatedOp op, int before) {
    int stages = pattern.stages().size();
    int link = op.pass() == Pass.FORWARD ? op.stage() : 2 * stages - 1 - op.stage();
    return (link - before) * pattern.batches() + Math.floorMod(op.shift(), pattern.batches());
  }

  /** What each op's stage takes when a forward pass starts. */
  public static double[] taken(Pattern pattern) {
    return bytes(pattern, Pass.FORWARD);
  }

  /** What each op's stage gives back when a backward pass ends. */
  public static double[] released(Pattern pattern) {
    return bytes(pattern, Pass.BACKWARD);
  }

  private static double[] bytes(Pattern pattern, Pass pass) {
    return pattern.ops().stream()
        .mapToDouble(
            op -> op.pass() == pass ? pattern.stages().get(op.stage()).activationBytes() : 0)
        .toArray();
  }
}
