package dev.pipewright.solver;

import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.IntVar;
import com.google.ortools.sat.IntervalVar;
import com.google.ortools.sat.LinearExpr;
import com.google.ortools.sat.LinearExprBuilder;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.Pattern;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a pattern of a given period exists where the stages are placed, for CP-SAT.
 *
 * <p>To the {@link Chain} come: every op of a rank at a place of its own in the rank's period,
 * which begins with the rank's first forward pass (start = begin + place + whole periods); and
 * where memory counts, how many activations each stage holds.
 */
final class PatternModel implements PeriodSearch.Model {
  private final CpModel model = new CpModel();
  private final PatternProblem problem;
  private final Holdings holdings;
  private final Chain chain;

  PatternModel(PatternProblem problem, Holdings holdings, long[] ticks, long period) {
    this.problem = problem;
    this.holdings = holdings;
    chain = new Chain(model, ticks, period, problem.batches());
    for (int rank = 0; rank < problem.placement().ranks(); rank++) {
      apart(rank, period);
      memory(rank);
    }
  }

  private void apart(int rank, long period) {
    @Nullable IntVar begin = null;
    List<IntervalVar> places = new ArrayList<>();
    for (int link = 0; link < chain.links(); link++) {
      for (int batch = 0; batch < chain.batches() && on(chain.stage(link), rank); batch++) {
        IntVar start = chain.start(link, batch);
        long ticks = chain.ticks(link);
        if (begin == null) {
          begin = start;
          places.add(model.newFixedInterval(0, ticks, "place"));
        } else {
          IntVar place = model.newIntVar(0, period - ticks, "place");
          IntVar turn = model.newIntVar(-1, 3L * link + 2, "turn"); // as long as ops may wait
          LinearExprBuilder sum = LinearExpr.newBuilder();
          model.addEquality(sum.add(begin).add(place).addTerm(turn, period), start);
          places.add(model.newFixedSizeIntervalVar(place, ticks, "place"));
        }
      }
    }
    model.addNoOverlap(places);
  }

  private boolean on(int stage, int rank) {
    return problem.placement().rankOf(stage) == rank;
  }

  private void memory(int rank) {
    Placement placement = problem.placement();
    boolean shared = holdings.shared(rank, placement);
    LinearExprBuilder bytes = LinearExpr.newBuilder();
    for (int stage = 0; stage < placement.stages(); stage++) {
      int most = holdings.most(stage);
      if (!on(stage, rank)) {
        continue;
      }
      if (shared && holdings.activation(stage) > 0) {
        bytes.addTerm(chain.held(stage, most), holdings.activation(stage));
      } else if (most < Integer.MAX_VALUE) {
        chain.holds(stage, most, null);
      }
    }
    if (shared) {
      model.addLessOrEqual(bytes, holdings.room(rank));
    }
  }

  @Override
  public CpModel model() {
    return model;
  }

  @Override
  public Pattern pattern(CpSolver values, double seconds) {
    return Pattern.of(
        problem.placement(),
        problem.stages(),
        seconds,
        problem.batches(),
        chain.ops(values, seconds));
  }
}
