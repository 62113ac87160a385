package dev.pipewright.server.page;

import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.formats.json.Node;
import dev.pipewright.server.study.Members;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The headline figures of an answer, and what training costs at a price. */
final class AnswerFigures {
  private static final double HOUR = 3600;
  private static final double TOKENS = 1e9; // of a price

  private AnswerFigures() {}

  static List<Figure> headlines(Members answer) {
    Members simulated = answer.member("simulated");
    List<Figure> figures = new ArrayList<>();
    double step = simulated.number("step_s");
    if (Double.isNaN(step)) {
      return figures;
    }
    double bound = answer.member("lower_bound").number("value");
    boolean ofTime = answer.member("objective").text("name").equals("step_s");
    figures.add(
        new Figure(
            "step time",
            Units.seconds(step),
            ofTime && bound > 0 ? "simulated; lower bound " + Units.seconds(bound) : "simulated"));
    double tokens = answer.number("tokens_per_s");
    double samples = answer.number("samples_per_s");
    if (tokens > 0) {
      figures.add(
          new Figure(
              "tokens/s",
              Numbers.rate(tokens),
              "%s on each device; %s samples/s"
                  .formatted(Numbers.rate(tokens / devices(answer)), Numbers.rate(samples))));
    } else if (samples > 0) {
      figures.add(new Figure("samples/s", Numbers.rate(samples), ""));
    }
    double mfu = answer.number("mfu");
    if (mfu > 0) {
      figures.add(
          new Figure(
              "MFU",
              Units.percent(mfu),
              Units.significant(answer.number("tflops_per_device")) + " TFLOP/s on each device"));
    }
    double peak = 0;
    for (Node each : simulated.list("peak_bytes")) {
      peak = Math.max(peak, each.finite());
    }
    double capacity =
        answer.member("plan").list("stages").stream()
            .map(stage -> new Members(stage.members()))
            .mapToDouble(stage -> stage.number("capacity_bytes"))
            .max()
            .orElse(0);
    figures.add(
        new Figure(
            "peak memory",
            Numbers.bytes(peak),
            Figure.isLimited(capacity)
                ? Units.percent(peak / capacity) + " of " + Numbers.bytes(capacity)
                : ""));
    figures.add(
        new Figure("idle", Units.percent(simulated.number("idle_share")), "of the devices' time"));
    figures.add(new Figure("devices", Integer.toString(devices(answer)), speedUp(answer)));
    return figures;
  }

  private static String speedUp(Members answer) {
    double times = answer.number("speedup");
    return times > 0 ? Numbers.times(times) + " as fast as one" : "";
  }

  /** Devices that the plan uses. */
  private static int devices(Members answer) {
    Set<Long> used = new HashSet<>();
    for (Node stage : answer.member("plan").list("stages")) {
      new Members(stage.members()).list("devices").forEach(each -> used.add((long) each.finite()));
    }
    double replicas = answer.member("plan").number("replicas");
    return used.size() * (replicas > 1 ? (int) replicas : 1);
  }

  /** What a step, a day and tokens cost; nothing without a price. */
  static List<Figure> costs(Members answer, String price) {
    double step = answer.member("simulated").number("step_s");
    List<Figure> figures = new ArrayList<>();
    if (Double.isNaN(step)) {
      return figures;
    }
    int devices = devices(answer);
    figures.add(new Figure("A step", Units.significant(devices * step) + " device-seconds", ""));
    if (price.isEmpty()) {
      return figures;
    }
    double perSecond = Double.parseDouble(price) * devices / HOUR;
    figures.add(new Figure("Price of a step", Numbers.price(perSecond * step), ""));
    figures.add(new Figure("Price of a day", Numbers.price(perSecond * HOUR * 24), ""));
    double tokens = answer.number("tokens_per_s");
    if (tokens > 0) {
      figures.add(
          new Figure("Price of 10⁹ tokens", Numbers.price(perSecond * TOKENS / tokens), ""));
    }
    return figures;
  }
}
