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

/**
 * Whether layers can be put on ranks so that a pattern of a given period exists, for CP-SAT.
 *
 * <p>To the {@link Chain} come: which rank has which layer; for every two layers that share a rank,
 * every two of their ops apart by whole periods and their durations; on each rank no more passes
 * than the period holds, and no more bytes than there are: the state and the activations of its
 * layers. Ranks are equal: each is taken into use by the first layer that no earlier one takes.
 */
final class AllocationModel implements PeriodSearch.Model {
  private final CpModel model = new CpModel();
  private final AllocationProblem problem;
  private final Chain chain;
  private final long period;
  private final BoolVar[][] on; // by layer and rank

  AllocationModel(AllocationProblem problem, long[] ticks, long period) {
    this.problem = problem;
    this.period = period;
    chain = new Chain(model, ticks, period, problem.batches());
    on = new BoolVar[problem.layers().size()][problem.ranks()];
    for (int layer = 0; layer < on.length; layer++) {
      place(layer);
      for (int earlier = 0; earlier <= layer; earlier++) {
        apart(layer, earlier);
      }
    }
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
      apart(layer, last - layer, together);
      return;
    }
    for (int link : new int[] {layer, last - layer}) {
      apart(link, other, together);
      apart(link, last - other, together);
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
        busy.addTerm(on[chain.stage(link)][rank], chain.ticks(link) * chain.batches());
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
    Ticks ticks = Ticks.of(both);
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
        held(chain.held(layer, most), layer, each, room, bytes);
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
    int[] rankOf = new int[on.length];
    for (int layer = 0; layer < on.length; layer++) {
      for (int rank = 0; rank < problem.ranks(); rank++) {
        rankOf[layer] = values.booleanValue(on[layer][rank]) ? rank : rankOf[layer];
      }
    }
    return Pattern.of(
        Placement.of(problem.ranks(), 1, rankOf),
        problem.layers(),
        seconds,
        problem.batches(),
        chain.ops(values, seconds));
  }
}
