package dev.pipewright.app.cli.trace;

import dev.pipewright.app.report.text.Words;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.trace.TracedProfile;
import dev.pipewright.formats.trace.TracedRun;
import dev.pipewright.trace.RankShares;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** The answer about a run that PyTorch's profiler has traced. */
final class ImportedTraces {
  private static final int MOST_NAMES = 3;
  private static final int LONGEST_NAME = 48;
  private static final double NOTABLE = 0.0005; // shares that are shown as 0.0 % are not

  private ImportedTraces() {}

  static ImportedRun of(TracedRun run, OptionalInt stated, String source) {
    List<RankShares> shares = run.shares();
    OptionalInt samples = stated.isPresent() ? stated : TracedProfile.samples(run);
    List<String> notes = new ArrayList<>();
    Optional<ModelFile> profile = profile(run, samples, source, notes);
    int missing = run.worldSize() - shares.size();
    if (missing > 0) {
      notes.add(
          "%s of the run's %d were not given: what these wait for is unknown"
              .formatted(Words.count(missing, "rank"), run.worldSize()));
    }
    unattributed(run, notes);
    if (!run.onDevice()) {
      notes.add("the traces have no kernels: operators of the processor count as work");
    }
    String title =
        "%s, %s by %s"
            .formatted(
                Words.count(shares.size(), "rank"),
                Words.count(run.steps(), "step"),
                run.layersAre());
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("kind", "pytorch-profiler");
    facts.put("world_size", run.worldSize());
    facts.put("steps", run.steps());
    facts.put("layers_are", run.layersAre());
    facts.put("unattributed_share", run.unattributedShare());
    return new ImportedRun(
        title,
        Runs.of(title, run.timeline()),
        run.lines().stream().map(line -> "rank " + line.rank() + ", " + line.stream()).toList(),
        shares,
        facts,
        notes,
        profile,
        run.collectives());
  }

  private static Optional<ModelFile> profile(
      TracedRun run, OptionalInt samples, String source, List<String> notes) {
    if (samples.isEmpty()) {
      notes.add("no profile: the traces do not say the samples of a step; give --samples N");
      return Optional.empty();
    }
    Optional<ModelFile> profile = TracedProfile.of(run, samples.getAsInt(), "traced", source);
    if (profile.isEmpty()) {
      notes.add(
          "no profile: no work belongs to a layer; record with with_modules=True, or name ranges"
              + " with record_function");
    } else if (profile.get().graph().layers().stream().allMatch(layer -> layer.parameters() == 0)) {
      notes.add("sizes of layers are unknown and 0 in the profile; record with record_shapes=True");
    }
    return profile;
  }

  private static void unattributed(TracedRun run, List<String> notes) {
    if (run.unattributedShare() >= NOTABLE) {
      String names =
          run.unattributed().stream()
              .limit(MOST_NAMES)
              .map(name ->
                  name.length() <= LONGEST_NAME ? name : name.substring(0, LONGEST_NAME - 1) + "…")
              .collect(Collectors.joining(", "));
      notes.add(
          "%s of the computing time belongs to no layer, most of it %s"
              .formatted(Units.percent(run.unattributedShare()), names));
    }
    if (run.unknownCommunicationShare() >= NOTABLE) {
      notes.add(
          "%s of the communication has no known kind, size or group and is in no table"
              .formatted(Units.percent(run.unknownCommunicationShare())));
    }
  }
}
