package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.memory.McapTable;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.memory.Capture;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.memory.Mcap;
import dev.pipewright.planner.memory.McapBruteForce;
import dev.pipewright.planner.memory.McapExact;
import dev.pipewright.planner.memory.PeakBinding;
import dev.pipewright.planner.memory.TieBreak;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.solver.bayes.McapBayesian;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Plans of the smallest peak.
 *
 * @param stopped whether the search was asked to end early
 */
public record MemoryAnswer(Planning planning, boolean stopped) implements Answer.Remarks {
  /** Their names on the command line. */
  public static final List<String> PLANNERS = List.of("mcap", "mcap-bf", "mcap-bo", "capture");

  private static final int POINTS = 12; // plans of a front
  private static final long BUDGET = 1_000_000; // partial pipelines of each search for speed

  /**
   * What is asked for.
   *
   * @param planner one of {@link #PLANNERS}
   * @param stop asked often; from the first yes on the search returns the best that it has
   */
  public record Asked(String planner, Request request, BooleanSupplier stop) {}

  /** Plans for a model, or for a table of measured peaks, which needs no batch. */
  public static Answer of(
      String planner,
      String model,
      ModelArgument arguments,
      SynchronousFlags flags,
      SearchDeadline patience) {
    Path file = FileNames.file("the model", model);
    if (McapTable.isTable(file)) {
      Cluster cluster = arguments.cluster(Optional.empty());
      SizeLimits.devices(cluster);
      OptionalInt stages =
          flags.stages(model, () -> McapTable.read(file).layers(), cluster.name(), cluster.size());
      Asked asked = new Asked(planner, Request.of(1).withStages(stages), patience);
      return measured(file, arguments, cluster, asked);
    }
    Request request = flags.request(planner);
    Costed costed =
        arguments.costed(model, Optional.empty(), OptionalInt.empty(), request.globalBatch());
    SizeLimits.devices(costed.workload().cluster());
    SizeLimits.searched(planner, costed.costs().size());
    Request exact =
        request
            .recomputing(flags.recomputationOfLayers(Recomputation.NEVER))
            .withStages(flags.stages(costed));
    return of(costed, arguments.profileBatch(), new Asked(planner, exact, patience));
  }

  /** Plans by the peaks that the model's shapes and sizes give. */
  public static Answer of(Costed costed, OptionalInt profileBatch, Asked asked) {
    return answer(
        Answer.Subject.of(costed, profileBatch, asked.request.globalBatch()),
        asked,
        () -> planned(costed.costs(), asked));
  }

  /** Plans by measured peaks ({@link McapTable}); all planners but {@code capture}. */
  public static Answer measured(Path table, ModelArgument arguments, Cluster cluster, Asked asked) {
    if (asked.planner.equals("capture")) {
      throw new BadInputException(
          table
              + ": peaks of single devices say nothing of shared stages; plan with mcap, or capture"
              + " without the table");
    }
    LayerPeaks peaks = McapTable.read(table);
    MadeFor madeFor =
        new MadeFor(
            Optional.of(table.toString()),
            Optional.ofNullable(arguments.cluster),
            OptionalLong.empty(),
            OptionalInt.empty(),
            Optional.empty(),
            arguments.memory(cluster));
    return answer(
        new Answer.Subject(madeFor, cluster, table.toString(), Optional.empty()),
        asked,
        () ->
            Mcap.measured(
                peaks, cluster, asked.request.stages().orElse(cluster.size()), cutter(asked)));
  }

  private static Answer answer(Answer.Subject subject, Asked asked, Supplier<Planning> planned) {
    long start = System.nanoTime();
    Planning planning = worded(asked.planner, planned);
    double seconds = (System.nanoTime() - start) / 1e9;
    boolean stopped = asked.stop.getAsBoolean();
    return new Answer(planning, subject, seconds, new MemoryAnswer(planning, stopped));
  }

  private static Planning planned(StageCosts costs, Asked asked) {
    if (!asked.planner.equals("capture")) {
      return Mcap.plan(costs, asked.request, cutter(asked), asked.stop);
    }
    int machine = costs.workload().cluster().groups().get(0).get(0);
    return Capture.plan(
        costs, asked.request, new Capture.Limits(machine, POINTS, BUDGET), asked.stop);
  }

  private static Mcap.Cutter cutter(Asked asked) {
    return switch (asked.planner) {
      case "mcap-bf" ->
          (peaks, layers, stages) -> McapBruteForce.of(peaks, layers, stages, asked.stop);
      case "mcap-bo" ->
          (peaks, layers, stages) ->
              McapBayesian.of(peaks, layers, stages, McapBayesian.Settings.USUAL, asked.stop);
      default ->
          (peaks, layers, stages) ->
              McapExact.of(peaks, layers, stages, TieBreak.NEXT_PEAKS, asked.stop);
    };
  }

  /** What a planner refuses, as a sentence for its user. */
  private static Planning worded(String planner, Supplier<Planning> planned) {
    try {
      return planned.get();
    } catch (BadInputException e) {
      throw e; // a sentence already
    } catch (IllegalArgumentException e) {
      throw new BadInputException("--planner " + planner + ": " + e.getMessage());
    }
  }

  @Override
  public List<String> of() {
    return stopped && !planning.search().exhaustive()
        ? List.of("the search was ended early; this is the best so far")
        : List.of();
  }

  @Override
  public Optional<String> nothing() {
    return Optional.of(PeakBinding.remedy(planning.candidates().get(0)));
  }
}
