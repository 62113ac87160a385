package dev.pipewright.formats.schedule;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.steady.Period;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A schedule with its times as JSON. An op is {@code ["F", micro-batch, stage, start, end]}, with
 * {@code F} forward, {@code BW} a whole backward pass, {@code B} and {@code W} the gradients of
 * input and weights, {@code R} a forward pass again, {@code U} an update, {@code A} a reduction,
 * {@code G} a gathering and {@code H} a state received, with their own number in place of the
 * micro-batch; in a schedule of several chains, such as one that runs both ways, its chain (the
 * direction) follows, and micro-batch and stage are counted in that chain. Ops that run together
 * are {@code ["FB", start, end, [["F", micro-batch, stage, direction], …]]}. {@code placement}
 * lists for each chain the ranks of its stages. {@code memory_cap} is a number, or a list of one
 * for each rank. A schedule that never flushes also has its {@code period}, the {@code
 * period_micro_batches} that it completes in one, and the {@code steady_idle_share} of a period.
 *
 * <p>{@link ScheduleJsonReader} reads it back.
 */
public final class ScheduleJson {
  /**
   * What the answer says in addition to the run.
   *
   * @param microBatches of all directions
   * @param chunks stages of each rank and direction
   * @param lowerBound of all schedules' makespans, where the best was searched for
   * @param optimal whether this one is proven to be the best
   * @param jitter what many runs with durations that differ took, where they were asked for
   * @param period of a schedule that never flushes
   */
  public record Context(
      String name,
      int microBatches,
      int chunks,
      MemoryCap memoryCap,
      OptionalDouble lowerBound,
      boolean optimal,
      Optional<JitterJson> jitter,
      Optional<Period> period,
      double generationSeconds) {
    /** A cap for all ranks, if any; nothing is known of other schedules. */
    public Context(
        String name,
        int microBatches,
        int chunks,
        OptionalDouble memoryCap,
        double generationSeconds) {
      this(
          name,
          microBatches,
          chunks,
          memoryCap.isPresent() ? MemoryCap.of(memoryCap.getAsDouble()) : MemoryCap.NONE,
          OptionalDouble.empty(),
          false,
          Optional.empty(),
          Optional.empty(),
          generationSeconds);
    }
  }

  private ScheduleJson() {}

  /** Indented JSON, a rank's ops on a line; ends with a line feed. */
  public static String text(Run run, Context context) {
    StringWriter text = new StringWriter();
    write(run, context, text);
    return text.append("\n}\n").toString();
  }

  /** Writes the same as it comes, for there may be many ops, without the last brace. */
  public static void write(Run run, Context context, Writer out) {
    String head = head(run, context);
    try {
      out.write(head.substring(0, head.lastIndexOf("\n}")));
      out.write(",\n  \"ranks\": ");
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write", e);
    }
    ScheduleRanksJson.write(run, out);
  }

  private static String head(Run run, Context context) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("schedule", context.name());
    object.put("stages", run.schedule().ranks());
    object.put("micro_batches", context.microBatches());
    object.put("chunks", context.chunks());
    object.put("makespan", run.makespan());
    object.put("idle_share", run.idleShare());
    object.put("stage_span_idle_share", run.spanIdleShare());
    if (context.period().isPresent()) {
      Period period = context.period().get();
      object.put("period", period.time());
      object.put("period_micro_batches", period.microBatches());
      object.put("steady_idle_share", period.idleShare());
    }
    if (run.stretchedShare() > 0) {
      object.put("stretched_share", run.stretchedShare());
    }
    List<Number> peaks = new ArrayList<>();
    for (int peak : run.peakActivations()) {
      peaks.add(number(peak, context.chunks()));
    }
    object.put("peak_activations", peaks);
    double copies = run.schedule().placement().copies();
    if (copies != 1 && !run.schedule().exchanging()) {
      object.put("parameter_copies", copies);
    }
    object.put("chain_micro_batches", run.schedule().microBatches());
    object.put("placement", placement(run.schedule().placement()));
    if (context.memoryCap().isLimited()) {
      object.put("memory_cap", cap(context.memoryCap()));
    }
    if (context.lowerBound().isPresent()) {
      object.put("lower_bound", context.lowerBound().getAsDouble());
      object.put("optimal", context.optimal());
    }
    context.jitter().ifPresent(jitter -> object.put("jitter", jitter.object()));
    object.put("generation_s", context.generationSeconds());
    return JsonText.of(object);
  }

  /** A number, or one for each rank. */
  private static Object cap(MemoryCap cap) {
    return cap.isEqual() ? cap.least() : cap.values();
  }

  /** The ranks of each chain's stages. */
  private static List<List<Integer>> placement(Placement placement) {
    List<List<Integer>> chains = new ArrayList<>();
    for (int chain = 0; chain < placement.chains(); chain++) {
      List<Integer> ranks = new ArrayList<>();
      for (int stage = 0; stage < placement.depth(); stage++) {
        ranks.add(placement.rankOf(chain * placement.depth() + stage));
      }
      chains.add(ranks);
    }
    return chains;
  }

  /** Chunks' activations counted as those of whole stages. */
  private static Number number(int peak, int chunks) {
    if (peak % chunks == 0) {
      return peak / chunks;
    }
    return (double) peak / chunks;
  }

  static String word(Pass pass) {
    return switch (pass) {
      case FORWARD -> "F";
      case BACKWARD -> "BW";
      case BACKWARD_INPUT -> "B";
      case BACKWARD_WEIGHT -> "W";
      case RECOMPUTE, UPDATE, REDUCE, GATHER, HAND_ON -> pass.letter();
    };
  }
}
