package dev.pipewright.planner.madpipe;

import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Layers on devices of which one, the special one, may take several stages and every other one
 * stage, so that a period could suffice: a dynamic program from the last layer.
 *
 * <p>Paper: O. Beaumont, L. Eyraud-Dubois, A. Shilova, <i>MadPipe</i>, hal-03025305, the idea of
 * its first phase. What is behind a position is described by the devices used, the seconds and
 * bytes of the special device and the group of 1F1B* with its seconds; since no stage holds fewer
 * batches than its group wherever it is (Euro-Par 2021, theorem 3), a period without an allocation
 * has no pattern either. Departs: no grid; of descriptions only those are kept that no other is
 * better than in everything, and of those at most {@code LABELS} a position; the special device's
 * stages count with their whole group, not with one batch less. Where layers may run again, stages
 * on devices of their own take the least extra time with which they fit, and those of the special
 * one keep all or nothing; which layers do run again is for {@link PatternRecomputation} to say.
 */
final class SpecialDevice {
  private static final int LABELS = 96;
  private static final int ANSWERS = 4;

  private final PeriodicProblem problem;
  private final LayerChain chain;
  private final Discipline discipline;
  private final boolean always; // all layers run again
  private final int counted; // 1 where the number of stages is given
  private final @Nullable TradeOffs tradeOffs; // null where not some layers alone run again
  private final List<List<Label>> labels = new ArrayList<>(); // by devices used and position
  private double period;

  /**
   * What is behind a position.
   *
   * @param used seconds in the group
   * @param special whether the stage that begins here is on the special device
   * @param stages from here on where their number is given; 0 otherwise
   */
  private record Label(
      int group,
      double used,
      double seconds,
      double bytes,
      boolean special,
      int stages,
      int first,
      @Nullable Label behind) {
    boolean noWorseThan(Label that) {
      return (group < that.group || (group == that.group && used <= that.used))
          && stages == that.stages
          && seconds <= that.seconds
          && bytes <= that.bytes
          && (!special || that.special);
    }
  }

  SpecialDevice(PeriodicProblem problem, Discipline discipline) {
    Check.that(problem.devices() >= 2, "others beside the special device: devices=1");
    this.problem = problem;
    this.discipline = discipline;
    chain = problem.chain();
    counted = problem.stages().isPresent() ? 1 : 0;
    always = problem.recomputation() == Recomputation.ALWAYS;
    boolean some = problem.recomputation() == Recomputation.SELECTIVE;
    tradeOffs = some ? problem.tradeOffs() : null;
    for (int i = 0; i < problem.devices() * (chain.layers() + 1); i++) {
      labels.add(new ArrayList<>());
    }
  }

  private List<Label> at(int used, int position) {
    return labels.get(used * (chain.layers() + 1) + position);
  }

  /** Some allocations that the period may suffice for; none where there is none. */
  List<Allocation> allocations(double seconds) {
    period = seconds;
    labels.forEach(List::clear);
    at(0, chain.layers()).add(new Label(1, 0, 0, 0, false, 0, chain.layers(), null));
    for (int end = chain.layers(); end >= 1; end--) {
      for (int used = 0; used < problem.devices(); used++) {
        for (Label label : at(used, end)) {
          extend(label, used);
        }
      }
    }
    List<Allocation> some = new ArrayList<>();
    for (int used = 0; used < problem.devices(); used++) {
      for (Label whole : at(used, 0)) {
        if (some.size() < ANSWERS) {
          some.add(allocation(whole));
        }
      }
    }
    return some;
  }

  private Allocation allocation(Label whole) {
    int[] devices = new int[chain.layers()];
    int normal = 0;
    Label label = whole;
    while (label.behind() != null) {
      int device = label.special() ? problem.devices() - 1 : normal++;
      Arrays.fill(devices, label.first(), label.behind().first(), device);
      label = label.behind();
    }
    return Allocation.of(problem, devices);
  }

  private void extend(Label label, int used) {
    int end = label.first();
    int group = label.group();
    double inGroup = label.used();
    if (end < chain.layers()) {
      double link = chain.cutSeconds(end);
      if (link > period) {
        return;
      }
      boolean next = inGroup + link > period;
      group += next ? 1 : 0;
      inGroup = next ? link : inGroup + link;
    }
    for (int first = end - 1; first >= 0; first--) {
      if (chain.seconds(first, end, always) > period
          || chain.stateBytes(first, end) > problem.capacityBytes()) {
        return;
      }
      extend(label, used, group, inGroup, first, always);
      if (tradeOffs != null) {
        extend(label, used, group, inGroup, first, true);
      }
    }
  }

  /** Puts a stage before {@code label}, of which all or no layers run again. */
  private void extend(Label label, int used, int group, double inGroup, int first, boolean again) {
    int end = label.first();
    double own = chain.seconds(first, end, again);
    if (own > period) {
      return;
    }
    boolean next = inGroup + own > period;
    int reached = next ? group + 1 : group;
    double now = next ? own : inGroup + own;
    double bytes = chain.bytes(first, end, discipline.held(reached, 1), again);
    if (used + 1 < problem.devices()) {
      if (bytes <= problem.capacityBytes()) {
        add(used + 1, alone(label, reached, now, first));
      } else if (tradeOffs != null && !again) {
        relieved(label, used + 1, group, inGroup, first);
      }
    }
    if (!label.special()
        && label.seconds() + own <= period
        && label.bytes() + bytes <= problem.capacityBytes()) {
      double seconds = label.seconds() + own;
      int stages = label.stages() + counted;
      add(
          used,
          new Label(reached, now, seconds, label.bytes() + bytes, true, stages, first, label));
    }
  }

  /** With a stage on a device of its own. */
  private Label alone(Label label, int group, double used, int first) {
    int stages = label.stages() + counted;
    return new Label(group, used, label.seconds(), label.bytes(), false, stages, first, label);
  }

  /** Puts a stage of which layers run again on a device of its own. */
  private void relieved(Label label, int used, int group, double inGroup, int first) {
    int end = label.first();
    for (int reached = group; reached <= group + 1; reached++) {
      double own = chain.seconds(first, end, extraSeconds(first, end, reached));
      double now = reached == group ? inGroup + own : own;
      if (now <= period) {
        add(used, alone(label, reached, now, first));
        return;
      }
    }
  }

  private double extraSeconds(int first, int end, int group) {
    double room = problem.capacityBytes() - chain.stateBytes(first, end);
    return tradeOffs == null
        ? 0
        : tradeOffs.extraSeconds(first, end, discipline.held(group, 1), room);
  }

  private void add(int used, Label label) {
    int missing = problem.stages().orElse(0) - label.stages();
    if (counted > 0
        && (missing < 0 || missing > label.first() || (missing == 0) != (label.first() == 0))) {
      return;
    }
    double room = (problem.devices() - 1 - used) * period + period - label.seconds();
    if (chain.seconds(0, label.first()) > room * (1 + 1e-12)) {
      return;
    }
    List<Label> all = at(used, label.first());
    for (Label other : all) {
      if (other.noWorseThan(label)) {
        return;
      }
    }
    all.removeIf(label::noWorseThan);
    all.add(label);
    if (all.size() > LABELS) {
      all.remove(worst(all));
    }
  }

  private Label worst(List<Label> all) {
    Label worst = all.get(0);
    for (Label label : all) {
      worst = price(label) > price(worst) ? label : worst;
    }
    return worst;
  }

  private double price(Label label) {
    double memory = problem.capacityBytes() > 0 ? label.bytes() / problem.capacityBytes() : 0;
    return label.group() + (label.used() + label.seconds()) / period + memory;
  }
}
