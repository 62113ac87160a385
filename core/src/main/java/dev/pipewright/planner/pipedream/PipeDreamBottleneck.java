package dev.pipewright.planner.pipedream;

import dev.pipewright.units.Units;
import java.util.List;

/**
 * The stage or transfer that a plan waits for; worded when it is shown.
 *
 * @param from of the innermost stage that it is
 * @param devices that share it
 * @param cut the place whose transfers it is; 0 where it is a stage
 * @param level of that cut, innermost 0
 * @param computing seconds per mini-batch of work or transfer, over all that share it
 * @param exchange seconds per mini-batch of summing gradients
 * @param bytesPerSecond of that level
 */
public record PipeDreamBottleneck(
    int from,
    int to,
    int devices,
    int cut,
    int level,
    double computing,
    double exchange,
    double bytesPerSecond) {
  static PipeDreamBottleneck of(
      CutCosts costs, List<BandwidthLevel> levels, List<LevelStage> pipeline) {
    return of(costs, levels, pipeline, levels.size() - 1);
  }

  /** {@code compute: layers 0–14 on 8 devices take 6.10 ms of 7.20 ms …}. */
  @Override
  public String toString() {
    double whole = computing + exchange;
    String gradients = exchange > 0 ? "; summing gradients takes " + Units.seconds(exchange) : "";
    if (cut > 0) {
      return "link: the activations behind layer "
          + (cut - 1)
          + " take "
          + Units.seconds(computing)
          + " of "
          + Units.seconds(whole)
          + " at "
          + Units.decimal(bytesPerSecond, "B/s")
          + ", the rate of level "
          + (level + 1)
          + gradients;
    }
    return (exchange > computing ? "gradients" : "compute")
        + ": layers "
        + from
        + "–"
        + (to - 1)
        + " on "
        + devices
        + (devices == 1 ? " device" : " devices")
        + " compute "
        + Units.seconds(computing)
        + " of "
        + Units.seconds(whole)
        + " ("
        + Units.percent(whole == 0 ? 1 : computing / whole)
        + ")"
        + gradients;
  }

  private static PipeDreamBottleneck of(
      CutCosts costs, List<BandwidthLevel> levels, List<LevelStage> pipeline, int level) {
    LevelStage slowest = pipeline.get(0);
    LevelStage busiest = pipeline.get(0);
    for (LevelStage node : pipeline) {
      slowest = node.seconds() > slowest.seconds() ? node : slowest;
      busiest = moved(node) > moved(busiest) ? node : busiest;
    }
    if (moved(busiest) > slowest.seconds()) {
      boolean before = busiest.before() >= busiest.after();
      int cut = before ? busiest.part().from() : busiest.part().to();
      return new PipeDreamBottleneck(
          busiest.part().from(),
          busiest.part().to(),
          busiest.part().units(),
          cut,
          level,
          moved(busiest),
          0,
          levels.get(level).bytesPerSecond());
    }
    return shared(
        slowest,
        level == 0 ? computing(costs, slowest) : of(costs, levels, slowest.inside(), level - 1));
  }

  private static double moved(LevelStage node) {
    return Math.max(node.before(), node.after());
  }

  private static PipeDreamBottleneck computing(CutCosts costs, LevelStage node) {
    int from = node.part().from();
    int to = node.part().to();
    return new PipeDreamBottleneck(from, to, 1, 0, 0, costs.exact(from, to), 0, 0);
  }

  private static PipeDreamBottleneck shared(LevelStage node, PipeDreamBottleneck inner) {
    int units = node.part().units();
    return new PipeDreamBottleneck(
        inner.from,
        inner.to,
        inner.devices * units,
        inner.cut,
        inner.level,
        inner.computing / units,
        (inner.exchange + node.exchange()) / units,
        inner.bytesPerSecond);
  }
}
