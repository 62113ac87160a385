package dev.pipewright.formats.cluster;

import dev.pipewright.cluster.Link;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.FitQuality;
import dev.pipewright.profile.LinkFit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Writes the constants that follow from measured collectives, and how well they fit, as one object
 * of JSON. Seconds and bytes are of one step's message unless a key says otherwise.
 */
public final class LinkFitJson {
  private LinkFitJson() {}

  /**
   * A fit and where it comes from.
   *
   * @param source the file of the timings
   * @param timings all that were fitted
   * @param leftOut what of the file was not
   * @param whole the fit of all of them
   * @param byDevices the fit of each number of devices
   * @param cluster a file or a name of the zoo, where the fit is for a level of it
   * @param level the level that it is for
   */
  public record Context(
      String source,
      List<CollectiveTiming> timings,
      List<LeftOut> leftOut,
      LinkFit whole,
      SortedMap<Integer, LinkFit> byDevices,
      Optional<String> cluster,
      Optional<String> level) {
    public Context {
      timings = List.copyOf(timings);
      leftOut = List.copyOf(leftOut);
    }
  }

  /** The answer without residuals. */
  public static String text(Context context) {
    return JsonText.of(object(context));
  }

  /** The answer with what both fits say of every timing. */
  public static String textWithResiduals(Context context) {
    Map<String, Object> object = object(context);
    object.put(
        "residuals",
        context.timings().stream().map(timing -> residual(timing, context.whole())).toList());
    return JsonText.of(object);
  }

  private static Map<String, Object> object(Context context) {
    List<CollectiveTiming> timings = context.timings();
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("source", context.source());
    object.put("measured", true);
    context.cluster().ifPresent(cluster -> object.put("cluster", cluster));
    context.level().ifPresent(level -> object.put("level", level));
    object.put(
        "collectives",
        timings.stream().map(timing -> EnumWords.word(timing.kind())).distinct().toList());
    object.put("devices", timings.stream().map(CollectiveTiming::devices).distinct().toList());
    object.put("timings", timings.size());
    double least = timings.stream().mapToDouble(CollectiveTiming::bytes).min().orElse(Double.NaN);
    double most = timings.stream().mapToDouble(CollectiveTiming::bytes).max().orElse(Double.NaN);
    object.put("bytes", List.of(least, most));
    object.putAll(fit(context.whole()));
    List<Map<String, Object>> byDevices = new ArrayList<>();
    context
        .byDevices()
        .forEach((devices, fit) -> {
          Map<String, Object> own = new LinkedHashMap<>();
          own.put("devices", devices);
          own.putAll(fit(fit));
          byDevices.add(own);
        });
    object.put("by_devices", byDevices);
    object.put("left_out", context.leftOut().stream().map(LinkFitJson::leftOut).toList());
    return object;
  }

  private static Map<String, Object> fit(LinkFit fit) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("line", fitted(fit.line(), fit.lineQuality()));
    object.put("pieces", fitted(fit.pieces(), fit.piecesQuality()));
    object.put("ranges", fitted(fit.ranges(), fit.rangesQuality()));
    return object;
  }

  private static Map<String, Object> fitted(Link link, FitQuality quality) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("latency_s", link.latency().value());
    object.put("bytes_per_s", link.bandwidth().value());
    if (!link.small().isEmpty()) {
      object.put("small", link.small().stream().map(LinkFitJson::piece).toList());
    }
    object.put("points", quality.points());
    object.put("mean_error", quality.meanError());
    object.put("largest_error", quality.largestError());
    object.put("log_r2", quality.logFit());
    object.put("share_within_10_percent", quality.near());
    return object;
  }

  private static Map<String, Object> leftOut(LeftOut line) {
    return JsonText.pair("line", line.line(), "why", line.why());
  }

  private static Map<String, Object> piece(Link.Piece piece) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("up_to_bytes", piece.upToBytes());
    object.put("latency_s", piece.latency().value());
    object.put("bytes_per_s", piece.bandwidth().value());
    return object;
  }

  /** Bytes and seconds of the whole exchange. */
  private static Map<String, Object> residual(CollectiveTiming timing, LinkFit fit) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("collective", EnumWords.word(timing.kind()));
    object.put("devices", timing.devices());
    object.put("bytes", timing.bytes());
    object.put("measured_s", timing.seconds());
    object.put("line_s", timing.steps() * fit.line().seconds(timing.stepBytes()));
    object.put("pieces_s", timing.steps() * fit.pieces().seconds(timing.stepBytes()));
    return object;
  }
}
