package dev.pipewright.app.cli.trace;

import dev.pipewright.app.report.text.Words;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.Shown;
import dev.pipewright.app.report.timeline.TimeNotation;
import dev.pipewright.compare.MeasuredPipeline;
import dev.pipewright.compare.MeasuredPipeline.Iteration;
import dev.pipewright.formats.trace.PipelineDump;
import dev.pipewright.formats.trace.TracedProfile;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import dev.pipewright.trace.Intervals;
import dev.pipewright.trace.RankShares;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The answer about a pipeline of which each pass was timed. */
final class ImportedPipeline {
  private ImportedPipeline() {}

  static ImportedRun of(PipelineDump dump, OptionalInt samples, String source) {
    MeasuredPipeline passes = dump.passes();
    Iteration typical = passes.typical();
    Run simulated = passes.simulated();
    Timeline measured = Recorder.timeline(typical.run(), MemoryCap.NONE, dump.chunks());
    List<Shown> shown =
        List.of(
            new Shown("measured, iteration " + typical.number(), measured, Optional.empty()),
            new Shown(
                "simulated with the medians",
                Recorder.timeline(simulated, MemoryCap.NONE, dump.chunks()),
                Optional.empty()));
    String title =
        "%s, %s, %s"
            .formatted(
                Words.count(dump.ranks(), "rank"),
                Words.count(dump.chunks(), "chunk"),
                Words.count(dump.microBatches(), "micro-batch"));
    double error = Math.round(1e4 * (simulated.makespan() / typical.makespan() - 1)) / 1e4;
    String head =
        "%s; %d of %s undisturbed; makespan %s measured, %s simulated (%s%s)"
            .formatted(
                title,
                passes.undisturbed().size(),
                Words.count(passes.iterations().size(), "iteration"),
                Units.seconds(typical.makespan()),
                Units.seconds(simulated.makespan()),
                error < 0 ? "-" : "+",
                Units.percent(Math.abs(error)));
    List<String> notes = new ArrayList<>();
    notes.add(
        "passes do not say their communication: what ranks wait for it counts as idle; sizes and"
            + " updates are unknown and 0 in the profile");
    if (samples.isEmpty()) {
      notes.add("the samples of a micro-batch are unknown and taken as 1; give --samples N");
    }
    return new ImportedRun(
        head,
        new Runs(title, "", TimeNotation.SECONDS, shown),
        List.of(),
        shares(measured),
        facts(dump, simulated),
        notes,
        Optional.of(TracedProfile.of(dump, samples.orElse(1), "pipeline", source)),
        List.of());
  }

  private static List<RankShares> shares(Timeline timeline) {
    List<RankShares> shares = new ArrayList<>();
    for (Lane.Compute lane : timeline.compute()) {
      Intervals computed = new Intervals();
      for (Slice slice : lane.slices()) {
        computed.add(slice.start(), slice.end());
      }
      shares.add(
          RankShares.of(
              lane.rank(), timeline.stepSeconds(), computed, new Intervals(), new Intervals()));
    }
    return shares;
  }

  private static Map<String, Object> facts(PipelineDump dump, Run simulated) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("kind", "pipeline");
    facts.put("chunks", dump.chunks());
    facts.put("micro_batches", dump.microBatches());
    facts.put("simulated_makespan_s", simulated.makespan());
    List<Object> iterations = new ArrayList<>();
    List<Integer> undisturbed =
        dump.passes().undisturbed().stream().map(Iteration::number).toList();
    for (Iteration iteration : dump.passes().iterations()) {
      Map<String, Object> of = new LinkedHashMap<>();
      of.put("iteration", iteration.number());
      of.put("makespan_s", iteration.makespan());
      of.put("undisturbed", undisturbed.contains(iteration.number()));
      iterations.add(of);
    }
    facts.put("iterations", iterations);
    return facts;
  }
}
