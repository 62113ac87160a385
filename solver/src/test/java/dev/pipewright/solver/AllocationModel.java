package dev.pipewright.solver;

import com.google.ortools.sat.BoolVar;
import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.IntVar;
import com.google.ortools.sat.LinearExpr;
import com.google.ortools.sat.LinearExprBuilder;
import com.google.ortools.sat.Literal;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether layers can be put on ranks so that a pattern of a given period exists, for CP-SAT.
 *
 * <p>To the {@link Chain} come: which rank has which layer; for every two layers that share a rank,
 * every two of their ops apart by whole periods and their durations; on each rank no more passes
 * than the period holds, and no more bytes than there are: the state and the activations of its
 * layers. Ranks are equal: each is taken into use by the first layer that no earlier one takes. A
 * transfer is a stage on a link of its own that takes no time where both its layers share a rank.
 */
final class AllocationModel implements PeriodSearch.Model {
  private final CpModel model = new CpModel();
  private final AllocationProblem problem;
  private final Chain chain;
  private final long period;
  private final BoolVar[][] on; // by layer and rank
  private final int step; // from layer to layer among the stages of the chain
  private final @Nullable BoolVar[] taken; // by stage: whether a transfer is; null for layers

  AllocationModel(AllocationProblem problem, long[] ticks, long period) {
    this.problem = problem;
    this.period = period;
    step = problem.transfers() ? 2 : 1;
    taken = new @Nullable BoolVar[problem.stages().size()];
    for (int cut = 1; step == 2 && cut < taken.length; cut += step) {
      taken[cut] = model.newBoolVar("transfer " + cut);
    }
    chain = new Chain(model, ticks, taken, period, problem.batches());
    on = new BoolVar[problem.layers().size()][problem.ranks()];
    for (int layer = 0; layer < on.length; layer++) {
      place(layer);
      for (int earlier = 0; earlier <= layer; earlier++) {
        apart(layer, earlier);
      }
    }
    transfers();
    passes();
    if (problem.capacityBytes() < Double.POSITIVE_INFINITY) {
      memory();
    }
  }

  private void place(int layer) {
    Arrays.setAll(on[layer], rank -> model.newBoolVar("layer " + layer + " on " + rank));
    model.addExactlyOne(on[layer]);
    for (int rank = 1; rank < on[layer].length; rank++) {
      List<Literal> before = new ArrayList<>(List.of(on[layer][rank].not()));
      for (int earlier = 0; earlier < layer; earlier++) {
        before.add(on[earlier][rank - 1]);
      }
      model.addBoolOr(before);
    }
  }

  /** The ops of two layers, or of one, if they share a rank. */
  private void apart(int layer, int other) {
    BoolVar together = model.newBoolVar("together " + layer + "," + other);
    for (int rank = 0; rank < problem.ranks(); rank++) {
      model.addBoolOr(new Literal[] {on[layer][rank].not(), on[other][rank].not(), together});
    }
    int last = chain.links() - 1;
    if (layer == other) {
      apart(step * layer, last - step * layer, together);
      return;
    }
    for (int link : new int[] {step * layer, last - step * layer}) {
      apart(link, step * other, together);
      apart(link, last - step * other, together);
    }
  }

  /** A link transfers wherever neighbours are on different ranks, one way at a time. */
  private void transfers() {
    for (int cut = 1; cut < taken.length; cut++) {
      @Nullable BoolVar transfer = taken[cut];
      if (transfer == null) {
        continue;
      }
      for (int rank = 0; rank < problem.ranks(); rank++) {
        Literal here = on[cut / 2][rank];
        Literal there = on[cut / 2 + 1][rank];
        model.addBoolOr(new Literal[] {here.not(), there, transfer});
      }
      apart(cut, chain.links() - 1 - cut, transfer);
    }
  }

  private void apart(int link, int other, BoolVar together) {
    for (int batch = 0; batch < chain.batches(); batch++) {
      for (int next = 0; next < chain.batches(); next++) {
        long turns = 3L * chain.links() + 2;
        IntVar turn = model.newIntVar(-turns, turns, "turn");
        LinearExprBuilder behind = LinearExpr.newBuilder();
        behind.add(chain.start(other, next)).addTerm(chain.start(link, batch), -1);
        behind.addTerm(turn, -period);
        model
            .addLinearConstraint(behind, chain.ticks(link), period - chain.ticks(other))
            .onlyEnforceIf(together);
      }
    }
  }

  private void passes() {
    for (int rank = 0; rank < problem.ranks(); rank++) {
      LinearExprBuilder busy = LinearExpr.newBuilder();
      for (int link = 0; link < chain.links(); link++) {
        int stage = chain.stage(link);
        if (stage % step == 0) {
          busy.addTerm(on[stage / step][rank], chain.ticks(link) * chain.batches());
        }
      }
      model.addLessOrEqual(busy, period);
    }
  }

  private void memory() {
    List<StageLoad> layers = problem.layers();
    double[] state = layers.stream().mapToDouble(StageLoad::stateBytes).toArray();
    double[] activation = layers.stream().mapToDouble(StageLoad::activationBytes).toArray();
    double[] both = Arrays.copyOf(state, 2 * state.length);
    System.arraycopy(activation, 0, both, state.length, state.length);
    IntegerTicks ticks = IntegerTicks.of(both);
    long capacity = ticks.within(problem.capacityBytes());
    LinearExprBuilder[] bytes = new LinearExprBuilder[problem.ranks()];
    Arrays.setAll(bytes, rank -> LinearExpr.newBuilder());
    for (int layer = 0; layer < state.length; layer++) {
      long each = ticks.count(activation[layer]);
      long room = capacity - ticks.count(state[layer]);
      for (int rank = 0; rank < bytes.length; rank++) {
        bytes[rank].addTerm(on[layer][rank], ticks.count(state[layer]));
      }
      if (room < each) {
        model.addBoolOr(new Literal[0]); // not even one activation fits
      } else if (each > 0) {
        int most = (int) Math.min(room / each, Integer.MAX_VALUE);
        held(chain.held(step * layer, most), layer, each, room, bytes);
      }
    }
    for (LinearExprBuilder sum : bytes) {
      model.addLessOrEqual(sum, capacity);
    }
  }

  /** Adds a layer's activations to the bytes of its rank. */
  private void held(IntVar held, int layer, long each, long room, LinearExprBuilder[] bytes) {
    for (int rank = 0; rank < bytes.length; rank++) {
      IntVar here = model.newIntVar(0, room, "bytes of " + layer + " on " + rank);
      model.addGreaterOrEqual(here, LinearExpr.term(held, each)).onlyEnforceIf(on[layer][rank]);
      bytes[rank].add(here);
    }
  }

  @Override
  public CpModel model() {
    return model;
  }

  @Override
  public Pattern pattern(CpSolver values, double seconds) {
    List<StageLoad> stages = new ArrayList<>(problem.stages());
    int[] rankOf = new int[stages.size()];
    for (int stage = 0; stage < rankOf.length; stage++) {
      @Nullable BoolVar transfer = taken[stage];
      if (transfer != null) {
        rankOf[stage] = problem.ranks() + stage / 2;
        if (!values.booleanValue(transfer)) {
          stages.set(stage, new StageLoad(0, 0, 0, 0));
        }
        continue;
      }
      for (int rank = 0; rank < problem.ranks(); rank++) {
        boolean here = values.booleanValue(on[stage / step][rank]);
        rankOf[stage] = here ? rank : rankOf[stage];
      }
    }
    int links = step == 2 ? on.length - 1 : 0;
    return Pattern.of(
        Placement.of(problem.ranks() + links, 1, rankOf),
        stages,
        seconds,
        problem.batches(),
        chain.ops(values, seconds));
  }
}
