package dev.pipewright.solver;

import com.google.ortools.sat.BoolVar;
import com.google.ortools.sat.Constraint;
import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.IntVar;
import com.google.ortools.sat.LinearExpr;
import com.google.ortools.sat.LinearExprBuilder;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.periodic.RepeatedOp;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a pattern's batches do whoever computes them, for CP-SAT. Variables: for each of the first k
 * batches the start of every op, in ticks. Constraints: a batch's ops one after the other, batches
 * in order at every op, the first k before the next k, and how many batches a stage holds. An op
 * never waits for another period, or two where there are several batches, since it and all behind
 * it could run a period earlier.
 */
final class Chain {
  private final CpModel model;
  private final long[] ticks; // forward passes, then backward passes back
  private final long period;
  private final int batches;
  private final @Nullable BoolVar[] taken; // by stage: whether it takes time; null: always
  private final IntVar[][] starts; // along the chain, and by batch

  Chain(CpModel model, long[] ticks, long period, int batches) {
    this(model, ticks, new @Nullable BoolVar[ticks.length / 2], period, batches);
  }

  Chain(CpModel model, long[] ticks, @Nullable BoolVar[] taken, long period, int batches) {
    this.model = model;
    this.taken = taken;
    this.ticks = ticks;
    this.period = period;
    this.batches = batches;
    starts = new IntVar[ticks.length][batches];
    long wait = (batches == 1 ? 1 : 2) * period - 1;
    long latest = 0;
    for (int link = 0; link < ticks.length; link++) {
      for (int batch = 0; batch < batches; batch++) {
        long most = latest + (batch > 0 ? period : 0);
        starts[link][batch] = model.newIntVar(0, most, "start " + link + "," + batch);
      }
      follow(link, wait);
      latest += ticks[link] + wait;
    }
  }

  private void follow(int link, long wait) {
    for (int batch = 0; batch < batches; batch++) {
      if (link > 0) {
        ends(link - 1, batch, starts[link][batch]);
      }
      if (batch > 0) {
        ends(link, batch - 1, starts[link][batch]);
      }
    }
    if (link > 0) {
      long most = ticks[link - 1] + wait;
      model.addLessOrEqual(starts[link][0], LinearExpr.affine(starts[link - 1][0], 1, most));
    }
    LinearExprBuilder lastOfTurn = end(link, batches - 1).add(-period);
    model.addLessOrEqual(lastOfTurn, starts[link][0]);
  }

  private void ends(int link, int batch, IntVar before) {
    model.addLessOrEqual(end(link, batch), before);
  }

  private LinearExprBuilder end(int link, int batch) {
    LinearExprBuilder end = LinearExpr.newBuilder().add(starts[link][batch]);
    @Nullable BoolVar only = taken[stage(link)];
    return only == null ? end.add(ticks[link]) : end.addTerm(only, ticks[link]);
  }

  int links() {
    return ticks.length;
  }

  int batches() {
    return batches;
  }

  int stage(int link) {
    return Math.min(link, ticks.length - 1 - link);
  }

  long ticks(int link) {
    return ticks[link];
  }

  IntVar start(int link, int batch) {
    return starts[link][batch];
  }

  /** A variable for how many activations a stage holds, at most so many. */
  IntVar held(int stage, int most) {
    IntVar held = model.newIntVar(1, Math.min(most, useful(stage)), "held " + stage);
    if (batches == 1) {
      int back = ticks.length - 1 - stage;
      LinearExprBuilder entered = LinearExpr.newBuilder();
      entered.add(starts[stage][0]).addTerm(held, period).add(-ticks[back]);
      model.addLessOrEqual(starts[back][0], entered);
      return held;
    }
    for (int count = 1; count <= Math.min(most, useful(stage)); count++) {
      BoolVar atMost = model.newBoolVar("held " + stage + " <= " + count);
      model.addLessOrEqual(held, count).onlyEnforceIf(atMost);
      model.addGreaterThan(held, count).onlyEnforceIf(atMost.not());
      holds(stage, count, atMost);
    }
    return held;
  }

  /** As many as a stage holds where every op waits as long as it may. */
  private int useful(int stage) {
    long longest = 0;
    for (int link = stage; link < ticks.length - stage; link++) {
      longest += ticks[link] + 2 * period;
    }
    return Math.toIntExact(batches * (longest / period + 2));
  }

  /** Lets a stage hold at most so many activations, if at all or if a literal is true. */
  void holds(int stage, int count, @Nullable BoolVar onlyIf) {
    int back = ticks.length - 1 - stage;
    for (int batch = 0; batch < batches; batch++) {
      long next = (long) batch + count;
      if (next / batches > useful(stage)) {
        continue;
      }
      long later = next / batches * period - ticks[back];
      IntVar entering = starts[stage][(int) (next % batches)];
      Constraint left =
          model.addLessOrEqual(starts[back][batch], LinearExpr.affine(entering, 1, later));
      if (onlyIf != null) {
        left.onlyEnforceIf(onlyIf);
      }
    }
  }

  /** The ops that a solution stands for, in a period of so many seconds. */
  List<RepeatedOp> ops(CpSolver values, double seconds) {
    List<RepeatedOp> ops = new ArrayList<>();
    for (int link = 0; link < ticks.length; link++) {
      Pass pass = link < ticks.length / 2 ? Pass.FORWARD : Pass.BACKWARD;
      for (int batch = 0; batch < batches; batch++) {
        long at = values.value(starts[link][batch]);
        double start = (double) (at % period) / period * seconds;
        int turn = Math.toIntExact(at / period);
        ops.add(new RepeatedOp(pass, stage(link), start, batch - turn * batches));
      }
    }
    return ops;
  }
}
