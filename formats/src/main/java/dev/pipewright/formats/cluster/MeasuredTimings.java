package dev.pipewright.formats.cluster;

import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.Outliers;
import dev.pipewright.profile.Outliers.Outlier;
import dev.pipewright.units.Seconds;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * What a file of measured collectives holds.
 *
 * @param lines the timings that can be fitted, in the order of the file
 * @param leftOut what the file holds in addition to these, ascending by line
 * @param notes what a user should know about the timings, as sentences
 */
public record MeasuredTimings(List<Timed> lines, List<LeftOut> leftOut, List<String> notes) {

  /** A timing and the line that it stands in, from 1. */
  public record Timed(int line, CollectiveTiming timing) {}

  public MeasuredTimings {
    lines = List.copyOf(lines);
    leftOut = leftOut.stream().sorted(Comparator.comparingInt(LeftOut::line)).toList();
    notes = List.copyOf(notes);
  }

  /** Single disturbed timings are left out, too. */
  public MeasuredTimings withoutOutliers() {
    List<Timed> kept = new ArrayList<>(lines);
    List<LeftOut> out = new ArrayList<>(leftOut);
    for (Outlier outlier : Outliers.of(timings()).reversed()) {
      Timed timed = kept.remove(outlier.index());
      out.add(
          new LeftOut(
              timed.line(),
              String.format(
                  Locale.ROOT,
                  "%s is %.2g times what its neighbours in size take",
                  new Seconds(timed.timing().seconds()),
                  outlier.ratio()),
              "measure again"));
    }
    return new MeasuredTimings(kept, out, notes);
  }

  public List<CollectiveTiming> timings() {
    return lines.stream().map(Timed::timing).toList();
  }
}
