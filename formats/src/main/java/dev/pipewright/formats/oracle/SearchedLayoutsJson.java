package dev.pipewright.formats.oracle;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.predict.pipeline.ScheduledLayout;
import dev.pipewright.predict.transformer.search.HeatCell;
import dev.pipewright.predict.transformer.search.LayoutSurvey;
import dev.pipewright.predict.transformer.search.RankedLayout;
import dev.pipewright.predict.transformer.search.ScaleFront;
import dev.pipewright.predict.transformer.search.SearchCount;
import dev.pipewright.predict.transformer.search.SearchSpace;
import dev.pipewright.predict.transformer.search.SearchedLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Writes what a search of one transformer's layouts found, for each number of devices. */
public final class SearchedLayoutsJson {
  private SearchedLayoutsJson() {}

  /**
   * A search of the layouts on one number of devices.
   *
   * @param best the fastest under any schedule, the fastest first
   * @param close the ratio of predicted seconds up to which measurements may reverse an order
   * @param seconds that the search took, its tables included
   */
  public record Search(
      LayoutSurvey survey, List<ScheduledLayout> best, double close, double seconds) {
    public Search {
      best = List.copyOf(best);
    }

    /** Whether a layout of the best is slower than the first for sure. */
    public boolean distinct(int at) {
      return best.get(at).seconds() > close * best.get(0).seconds();
    }
  }

  /** One object; seconds and bytes are plain numbers. */
  public static String text(String model, String cluster, List<Search> searches) {
    SearchSpace space = searches.get(0).survey().space();
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("model", model);
    object.put("cluster", cluster);
    object.put("framework", space.framework().word());
    object.put("precision", space.precision().word());
    object.put("optimizer", "adam");
    object.put("attention", space.fusedAttention() ? "fused" : "standard");
    object.put("sequence", space.shape().sequence());
    object.put("parameters", space.shape().parameters());
    object.put("active_parameters", space.shape().activeParameters());
    object.put("capacity_bytes", Math.round(space.machine().usableBytes()));
    object.put("searched", searches.stream().map(SearchedLayoutsJson::searched).toList());
    object.put("rows", searches.stream().flatMap(SearchedLayoutsJson::rows).toList());
    object.put(
        "pareto",
        ScaleFront.of(searches.stream().map(Search::survey).toList()).stream()
            .map(layout -> ranked(space, layout))
            .toList());
    object.put("heat_map", searches.stream().flatMap(SearchedLayoutsJson::cells).toList());
    return JsonText.of(object);
  }

  private static Map<String, Object> searched(Search search) {
    SearchSpace space = search.survey().space();
    SearchCount count = search.survey().count();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("devices", space.devices());
    members.put("global_batch", space.globalBatch());
    members.put("layouts", count.valid());
    members.put("layouts_that_do_not_fit", count.unfit());
    members.put("distinct_ratio", search.close());
    members.put("search_s", search.seconds());
    return members;
  }

  private static Stream<Map<String, Object>> rows(Search search) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int i = 0; i < search.best().size(); i++) {
      ScheduledLayout scheduled = search.best().get(i);
      Map<String, Object> row = layout(search.survey().space(), scheduled.searched());
      row.put("schedule", scheduled.schedule());
      PredictedRunsJson.step(row, scheduled.run());
      row.put("iteration_s", scheduled.seconds()); // as in all other lists
      row.put("distinct", search.distinct(i));
      rows.add(row);
    }
    return rows.stream();
  }

  private static Stream<Map<String, Object>> cells(Search search) {
    SearchSpace space = search.survey().space();
    return search.survey().heat().stream().map(cell -> cell(space, cell));
  }

  private static Map<String, Object> layout(SearchSpace space, SearchedLayout searched) {
    Map<String, Object> members = PredictedRunsJson.layout(searched.layout());
    space
        .split(searched.layout().pipeline(), searched.layout().interleave())
        .ifPresent(split -> members.put("pipeline_layout", StatedSplit.text(split)));
    members.put("recompute", searched.recompute().word());
    members.put("offload_layers", searched.offloadedLayers());
    return members;
  }

  private static Map<String, Object> ranked(SearchSpace space, RankedLayout ranked) {
    Map<String, Object> members = layout(space, ranked.searched());
    members.put("iteration_s", ranked.seconds());
    members.put("memory_bytes", Math.round(ranked.bytes()));
    return members;
  }

  /** The fastest layout of two degrees, or these alone where none fits. */
  private static Map<String, Object> cell(SearchSpace space, HeatCell cell) {
    return cell.best()
        .map(best -> ranked(space, best))
        .orElseGet(() -> {
          Map<String, Object> degrees = new LinkedHashMap<>();
          degrees.put("devices", space.devices());
          degrees.put("tensor", cell.tensor());
          degrees.put("pipeline", cell.pipeline());
          return degrees;
        });
  }
}
