package dev.pipewright.predict.transformer.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The fastest layout so far for each pair of tensor and pipeline parallelism. */
final class HeatCells {
  private final double[] seconds;
  private final double[] bytes;
  private final long[] numbers;

  HeatCells(SearchValues values) {
    int cells = values.tensor().size() * values.pipeline().size();
    this.seconds = new double[cells];
    this.bytes = new double[cells];
    this.numbers = new long[cells];
    Arrays.fill(seconds, Double.POSITIVE_INFINITY);
  }

  void add(int cell, double taken, double needed, long number) {
    if (taken < seconds[cell] || (taken == seconds[cell] && number < numbers[cell])) {
      seconds[cell] = taken;
      bytes[cell] = needed;
      numbers[cell] = number;
    }
  }

  void add(HeatCells that) {
    for (int cell = 0; cell < that.seconds.length; cell++) {
      if (that.seconds[cell] < Double.POSITIVE_INFINITY) {
        add(cell, that.seconds[cell], that.bytes[cell], that.numbers[cell]);
      }
    }
  }

  /** All cells; those of the least tensor parallelism first. */
  List<HeatCell> cells(SearchSpace space) {
    List<HeatCell> found = new ArrayList<>();
    for (int tensor : space.values().tensor()) {
      for (int pipeline : space.values().pipeline()) {
        int cell = found.size();
        Optional<RankedLayout> best =
            seconds[cell] < Double.POSITIVE_INFINITY
                ? Optional.of(
                    new RankedLayout(space.layout(numbers[cell]), seconds[cell], bytes[cell]))
                : Optional.empty();
        found.add(new HeatCell(tensor, pipeline, best));
      }
    }
    return found;
  }
}
