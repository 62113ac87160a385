package dev.pipewright.schedule.periodic;

import dev.pipewright.schedule.Op.Pass;
import java.util.Arrays;

/** The referee: a pattern's ops written out batch by batch, and compared one with another. */
final class ExplicitUnrolling {
  private static final int TURNS = 8;

  private final Pattern pattern;
  private final int batches;
  private final double[][] starts; // by place in the chain and batch, NaN where outside the turns

  ExplicitUnrolling(Pattern pattern) {
    this.pattern = pattern;
    batches = 3 * TURNS * pattern.batches();
    int stages = pattern.stages().size();
    starts = new double[2 * stages][batches];
    for (double[] row : starts) {
      Arrays.fill(row, Double.NaN);
    }
    for (RepeatedOp op : pattern.ops()) {
      for (int turn = -TURNS; turn <= 2 * TURNS; turn++) {
        int batch = turn * pattern.batches() + op.shift() + TURNS * pattern.batches();
        if (0 <= batch && batch < batches) {
          int link = op.pass() == Pass.FORWARD ? op.stage() : 2 * stages - 1 - op.stage();
          starts[link][batch] = turn * pattern.period() + op.start();
        }
      }
    }
  }

  private double seconds(int link) {
    int stages = pattern.stages().size();
    return link < stages
        ? pattern.stages().get(link).forwardSeconds()
        : pattern.stages().get(2 * stages - 1 - link).backwardSeconds();
  }

  private int rank(int link) {
    int stages = pattern.stages().size();
    return pattern.placement().rankOf(Math.min(link, 2 * stages - 1 - link));
  }

  boolean canRun() {
    for (int link = 0; link < starts.length; link++) {
      for (int batch = 0; batch < batches; batch++) {
        double end = starts[link][batch] + seconds(link);
        if (link + 1 < starts.length && starts[link + 1][batch] < end - 1e-6) {
          return false;
        }
        for (int other = 0; other < starts.length; other++) {
          for (int b = 0; b < batches && rank(other) == rank(link); b++) {
            boolean same = other == link && b == batch;
            if (!same
                && starts[other][b] < end - 1e-6
                && starts[link][batch] < starts[other][b] + seconds(other) - 1e-6) {
              return false;
            }
          }
        }
      }
    }
    return true;
  }

  /** Batches whose forward pass has started and whose backward pass has not ended, at most. */
  int mostHeld(int stage) {
    int most = 0;
    int back = starts.length - 1 - stage;
    for (int batch = 0; batch < batches; batch++) {
      double now = starts[stage][batch] + 1e-6;
      int held = 0;
      for (int other = 0; other < batches; other++) {
        if (starts[stage][other] <= now && starts[back][other] + seconds(back) > now) {
          held++;
        }
      }
      most = Math.max(most, held);
    }
    return most;
  }
}
