package dev.pipewright.app.cli.predict;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.oracle.SearchedLayoutsJson.Search;
import dev.pipewright.predict.pipeline.ScheduledLayout;
import dev.pipewright.predict.pipeline.SearchedSchedules;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.search.LayoutSearch;
import dev.pipewright.predict.transformer.search.LayoutSurvey;
import dev.pipewright.predict.transformer.search.SearchSpace;
import dev.pipewright.predict.transformer.search.SearchValues;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;
import picocli.CommandLine.ParseResult;

/** A search of a transformer's layouts. Degrees that the command line gives stay as they are. */
final class SearchRequest {
  /** Options of layouts that a search has no use for. */
  private static final List<String> FOREIGN =
      List.of("--schedule", "--expert-tensor", "--pipeline-layout", "--tokens", "--device-hour");

  private final LayoutRequest request;
  private final ParseResult given;

  SearchRequest(LayoutRequest request, ParseResult given) {
    this.request = request;
    this.given = given;
  }

  /**
   * A search for each number of devices.
   *
   * @throws BadInputException where no layout goes with the network, the devices and the batch
   */
  List<Search> searches(ScaleFlags scale, CalibratedConstants constants) {
    for (String option : FOREIGN) {
      if (given.hasMatchedOption(option)) {
        throw new BadInputException(
            "%s: does not go with --search, which states no single layout; leave one of them out"
                .formatted(option));
      }
    }
    request.checkOptimizer();
    List<Search> searches = new ArrayList<>();
    for (int devices : scale.counts(request.cluster(), OptionalInt.empty())) {
      SearchSpace space = space(devices, scale.globalBatch(devices));
      long start = System.nanoTime();
      LayoutSurvey survey = LayoutRequest.checked(() -> LayoutSearch.of(space, constants).survey());
      if (survey.count().valid() == 0) {
        throw new BadInputException(
            "--search: no layout on %d devices goes with a batch of %d, %d layers and the degrees that are given; give fewer degrees, or another batch"
                .formatted(devices, space.globalBatch(), space.shape().layers()));
      }
      List<ScheduledLayout> best = SearchedSchedules.best(survey, constants);
      double seconds = (System.nanoTime() - start) / 1e9;
      double close = best.isEmpty() ? 1 : constants.indistinct(best.get(0).run().run());
      searches.add(new Search(survey, best, close, seconds));
    }
    return searches;
  }

  private SearchSpace space(int devices, int globalBatch) {
    boolean fused = request.layout().fusedAttention(request.framework());
    SearchValues all = SearchValues.all(request.shape(), devices, globalBatch, fused);
    DegreeFlags degrees = request.degrees();
    LayoutFlags layout = request.layout();
    return new SearchSpace(
        request.shape(),
        request.machine(),
        request.framework(),
        request.precision(),
        fused,
        layout.offloadOptimizer(),
        request.gradientBytes(),
        devices,
        globalBatch,
        new SearchValues(
            values("--tensor-parallel", degrees::tensor, all.tensor()),
            values("--context-parallel", layout::context, all.context()),
            values("--expert-parallel", layout::expert, all.expert()),
            values("--pipeline-parallel", degrees::pipelineStages, all.pipeline()),
            values("--data-parallel", () -> degrees.data().orElse(1), all.data()),
            values("--interleave", degrees::interleave, all.interleave()),
            values("--micro-batch", degrees::microBatch, all.microBatch()),
            values("--sequence-parallel", layout::sequenceParallel, all.sequenceParallel()),
            values("--recompute", degrees::recomputePolicy, all.recompute()),
            values("--zero", () -> layout.zero(request.framework()), all.zero()),
            values("--reshard", () -> layout.reshard(request.framework(), 2), all.reshard()),
            values("--offload-layers", layout::offloadLayers, all.offload())));
  }

  private <T> List<T> values(String option, Supplier<T> value, List<T> all) {
    return given.hasMatchedOption(option) ? List.of(value.get()) : all;
  }
}
