package dev.pipewright.predict.run;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.exchange.GradientPasses;
import dev.pipewright.exchange.GradientPasses.Turn;
import dev.pipewright.exchange.SumUses;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Of a stage that a worker has a copy of: the newest parameters and what the update rule remembers;
 * older versions as long as a micro-batch needs them; a sum of gradients for each update that is
 * under way.
 */
final class OwnVersions implements AsyncBytes {
  private final Assignment all;
  private final AsyncPipeline asyncPipeline;
  private final int depth;
  private final int rank;
  private final long[] program;
  private final double bytes; // of its parameters
  private final double versionBytes; // likewise, but for what another stage has, too
  private final GradientPasses gradientPasses;
  private final Run run;
  private final Deque<Integer> unfinished = new ArrayDeque<>(); // micro-batches
  private final TreeSet<Integer> versions = new TreeSet<>(Set.of(0));
  private final Set<Integer> sums = new HashSet<>(); // updates
  private final SumUses uses;
  private final InFlightSends leaving = new InFlightSends();
  private final List<TiedBytes> tied; // which have versions of their own
  private List<Integer> coming = List.of(); // updates whose sums have been asked for
  private double now;

  /**
   * @param all steps enough to fill all stages
   * @param run of all of them
   */
  OwnVersions(StageCosts costs, Assignment all, Run run, int depth, int rank) {
    LayerRange range = all.stages().get(depth).range();
    this.all = all;
    this.run = run;
    this.asyncPipeline = all.asyncPipeline().orElseThrow();
    this.depth = depth;
    this.rank = rank;
    this.program = all.schedule().packed(rank);
    this.bytes = costs.parameterBytes(range.first(), range.last() + 1);
    this.now = costs.staticBytes(range.first(), range.last() + 1) - bytes; // gradients lie in sums
    this.gradientPasses = GradientPasses.of(all, depth);
    this.tied = TiedBytes.of(costs, all, run, depth);
    this.versionBytes = bytes - tied.stream().mapToDouble(TiedBytes::bytes).sum();
    this.uses = SumUses.of(all, depth, rank, gradientPasses);
    for (int at = 0; at < program.length; at++) {
      int stage = Schedule.stage(program[at]);
      if (Schedule.pass(program[at]) == Pass.BACKWARD && stage % asyncPipeline.stages() == depth) {
        unfinished.add(all.inFlow(stage, Schedule.microBatch(program[at])));
      }
    }
  }

  private int update(long op) {
    return all.inFlow(Schedule.stage(op), Schedule.microBatch(op)) / asyncPipeline.perUpdate(depth);
  }

  @Override
  public double now(double time) {
    return now + leaving.bytes(time) + tied.stream().mapToDouble(TiedBytes::now).sum();
  }

  @Override
  public void ask(int at) {
    int turn = Schedule.microBatch(program[at]);
    coming = gradientPasses.comes(turn) ? gradientPasses.carried(turn) : List.of();
    now += coming.size() * bytes;
  }

  @Override
  public void run(int at) {
    arrive();
    Pass pass = Schedule.pass(program[at]);
    if (pass == Pass.UPDATE) {
      update();
      tied.forEach(each -> each.update(run.start(rank, at)));
      return;
    }
    if (pass == Pass.BACKWARD) {
      now += sums.add(update(program[at])) ? bytes : 0;
    }
    if (pass == Pass.FORWARD || pass == Pass.BACKWARD) {
      int microBatch = all.inFlow(Schedule.stage(program[at]), Schedule.microBatch(program[at]));
      tied.forEach(each -> each.meets(microBatch, unfinished.getFirst()));
    }
  }

  /** What has come is added to one's own, or becomes it. */
  private void arrive() {
    for (int update : coming) {
      now -= sums.add(update) ? 0 : bytes;
    }
    coming = List.of();
  }

  /** As the runtime does: the newest version is changed in place where no pass needs it. */
  private void update() {
    int newest = versions.last();
    int oldest =
        unfinished.isEmpty()
            ? Integer.MAX_VALUE
            : asyncPipeline.version(depth, unfinished.getFirst());
    List<Integer> spent = new ArrayList<>(versions.headSet(Math.min(oldest, newest)));
    versions.removeAll(spent);
    now -= spent.size() * versionBytes;
    if (oldest <= newest) {
      now += versionBytes;
    } else {
      versions.remove(newest);
    }
    versions.add(newest + 1);
  }

  @Override
  public void ended(int at) {
    tied.forEach(TiedBytes::ended);
    if (Schedule.pass(program[at]) == Pass.BACKWARD) {
      unfinished.removeFirst();
    }
    for (SumUses.Spent spent : uses.spent(at)) {
      if (sums.remove(spent.update())) {
        now -= bytes;
        if (spent.goes()) {
          leave(gradientPasses.turn(gradientPasses.over(rank, at).orElseThrow() + 1));
        }
      }
    }
  }

  private void leave(Turn to) {
    leaving.add(bytes, run.start(to.rank(), to.asked()), run.end(to.rank(), to.asked()));
  }
}
