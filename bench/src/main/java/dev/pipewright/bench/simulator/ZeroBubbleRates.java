package dev.pipewright.bench.simulator;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.search.AdaptiveV;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ZeroBubbleAuto;
import dev.pipewright.sim.StaticSimulator;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Bubble rates of the zero-bubble papers' schedules in the first paper's twelve settings, with the
 * measured times of passes, as their authors' programs give them, next to ours.
 *
 * <p>Papers: P. Qi et al., <i>Zero Bubble Pipeline Parallelism</i>, ICLR 2024; P. Qi et al.,
 * <i>Pipeline Parallelism with Controllable Memory</i>, NeurIPS 2024.
 */
public final class ZeroBubbleRates implements Reproduction {
  private static final String FOLDER = "schedules";
  private static final String FILE = "zero-bubble-paper-anchors.json";
  private static final double ROUNDED_PEAK = 5e-3; // peaks have two decimals there

  /** A schedule by its name there, here, and how many stages a rank has. */
  private record Kind(String theirs, String ours, int chunks) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind("1f1b", "1f1b", 1),
          new Kind("zb-h1", "zb-h1", 1),
          new Kind("zb-h2", "zb-h2", 1),
          new Kind("zb1p", "zb-auto in p activations", 1),
          new Kind("zb2p", "zb-auto in 2p", 1),
          new Kind("zbv", "zb-v", 2),
          new Kind("v-half", "v-half", 2),
          new Kind("v-min", "v-min", 2));

  @Override
  public String name() {
    return "zero-bubble";
  }

  @Override
  public String summary() {
    return "Zero bubble: rates of all schedules in the paper's twelve settings.";
  }

  @Override
  public List<String> needs() {
    return List.of(FOLDER);
  }

  @Override
  public Report run(Reference reference) {
    Path file = reference.folder().resolve(FOLDER).resolve(FILE);
    JsonNode settings = JsonMapper.shared().readTree(file.toFile());
    String[] header = new String[KINDS.size() + 1];
    header[0] = "network, p × m";
    Arrays.setAll(header, i -> i == 0 ? "network, p × m" : KINDS.get(i - 1).ours());
    Markdown rates = new Markdown(header);
    double[] most = new double[KINDS.size()];
    double[] least = new double[KINDS.size()];
    Arrays.fill(most, Double.NEGATIVE_INFINITY);
    Arrays.fill(least, Double.POSITIVE_INFINITY);
    for (JsonNode setting : settings) {
      Object[] cells = new Object[header.length];
      cells[0] =
          "%s, %d × %d"
              .formatted(
                  setting.get("model").asString(),
                  setting.get("p").asInt(),
                  setting.get("m").asInt());
      for (int i = 0; i < KINDS.size(); i++) {
        Kind kind = KINDS.get(i);
        if (!setting.has(kind.theirs())) {
          cells[i + 1] = "–";
          continue;
        }
        double theirs = setting.get(kind.theirs()).get("bubble_zb").asDouble();
        double ours = rate(setting, kind);
        most[i] = Math.max(most[i], ours - theirs);
        least[i] = Math.min(least[i], ours - theirs);
        cells[i + 1] = Numbers.percent(theirs) + " / " + Numbers.percent(ours);
      }
      rates.row(cells);
    }
    Markdown differences =
        new Markdown("schedule", "least difference, points", "largest difference, points");
    for (int i = 0; i < KINDS.size(); i++) {
      differences.row(KINDS.get(i).ours(), points(least[i]), points(most[i]));
    }
    return new Report("Bubble rates of zero-bubble schedules")
        .paragraph(
            ("`Reproduce %s`: theirs / ours, in the settings of the zero-bubble paper: p ranks, m micro-batches, the measured times of"
                    + " forward passes, both halves of backward passes and transfers. Theirs is what the authors' programs give,"
                    + " with four digits. The bubble rate is the busiest rank's idle share of the longest span."
                    + " Searched schedules have the memory that theirs hold.")
                .formatted(name()))
        .table(rates)
        .heading("Ours less theirs, over all settings")
        .table(differences);
  }

  private static String points(double share) {
    return Numbers.fixed(Math.rint(1e4 * share) / 100 + 0.0, 2); // no −0
  }

  private static double rate(JsonNode setting, Kind kind) {
    int ranks = setting.get("p").asInt();
    int microBatches = setting.get("m").asInt();
    OpTimes times =
        OpTimes.equal(
            kind.chunks() * ranks,
            setting.get("f").asDouble(),
            setting.get("b").asDouble(),
            setting.get("w").asDouble(),
            setting.get("c").asDouble());
    double peak = setting.get(kind.theirs()).get("peak_in_F_units").asDouble();
    Schedule schedule =
        switch (kind.theirs()) {
          case "1f1b" -> OneForwardOneBackward.of(ranks, microBatches);
          case "zb-h1" -> ZeroBubbleH1.of(ranks, microBatches);
          case "zb-h2" -> ZeroBubbleH2.of(ranks, microBatches);
          case "zb1p", "zb2p" -> automatic(setting, times, microBatches, peak);
          default -> AdaptiveV.of(microBatches, times, (int) peak);
        };
    return StaticSimulator.run(schedule, times).spanIdleShare();
  }

  /** Memory is partly free after the input's gradient. */
  private static Schedule automatic(
      JsonNode setting, OpTimes times, int microBatches, double peak) {
    JsonNode memory = setting.get("mem");
    double kept = -memory.get(2).asDouble() / memory.get(0).asDouble();
    double[] caps = new double[times.stages()];
    Arrays.fill(caps, peak + ROUNDED_PEAK);
    return ZeroBubbleAuto.of(microBatches, times, caps, kept);
  }
}
