package dev.pipewright.app.cli.train;

import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.Shown;
import dev.pipewright.app.report.timeline.TimeNotation;
import dev.pipewright.compare.Comparison;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Placement;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import java.util.List;
import java.util.Optional;

/** The runs of a comparison in the form that reports draw. */
public final class ShownRuns {
  private ShownRuns() {}

  /** Measured, predicted and simulated. */
  static Runs of(String title, Comparison comparison) {
    return new Runs(
        title,
        "",
        TimeNotation.SECONDS,
        List.of(
            of("measured", comparison.measured()),
            of("predicted", comparison.predicted()),
            of("simulated", comparison.simulated())));
  }

  private static Shown of(String name, Run run) {
    Placement placement = run.schedule().placement();
    int chunks = Math.max(1, placement.depth() / placement.ranks());
    return new Shown(name, Recorder.timeline(run, MemoryCap.NONE, chunks), Optional.empty());
  }
}
