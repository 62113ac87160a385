package dev.pipewright.solver.calibrate;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.CalibratedConstants.Errors;
import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Fits few constants to the steps of one machine, beginning at constants that hold in general. The
 * constants that move are those on which these steps depend most: at most nine, since more foresee
 * other networks no better. All others keep their value.
 *
 * @param free what moved, the most influential first
 * @param before residuals ln(predicted / measured) with the constants at the beginning
 * @param fit what was found
 * @param leftOut residuals of each step without its network in the fit
 */
public record MachineCalibration(
    List<FreeConstant> free, double[] before, ConstantsFit fit, double[] leftOut) {
  /** Fewer steps than this decide too little. */
  public static final int LEAST_STEPS = 12;

  /** Fewer networks than this cannot be left out. */
  public static final int LEAST_GROUPS = 2;

  private static final int MOST_CONSTANTS = 9;
  private static final double LEAST_INFLUENCE = 0.005; // ∂ln seconds / ∂ln constant, mean square
  private static final double STRENGTH = 0.1; // a machine seldom differs from others by half
  private static final double FACTOR = 2; // from a constant to its bounds
  private static final double WHOLE = 0.99; // of a share
  private static final double NUDGE = 0.01;
  private static final double LEVEL = 0.9; // of intervals

  /** Physical constants of machines and software that are shares of a peak or of a whole. */
  private static final Set<String> SHARES =
      Set.of("eps", "phi", "bus", "abus", "fbus", "eta", "xi", "chi", "chif");

  /** Others that are physical; releases, clocks and details of kernels are not worth a fit. */
  private static final Set<String> AMOUNTS =
      Set.of(
          "ew", "scores", "head", "cast", "opt", "ring", "kappa", "kp", "sigma", "fixed", "host");

  public MachineCalibration {
    free = List.copyOf(free);
  }

  /**
   * Fits.
   *
   * @throws IllegalArgumentException for fewer steps or groups than are needed
   */
  public static MachineCalibration of(List<MeasuredStep> steps, CalibratedConstants general) {
    long groups = steps.stream().map(MeasuredStep::group).distinct().count();
    Check.that(
        steps.size() >= LEAST_STEPS && groups >= LEAST_GROUPS,
        "%d runs of %d network%s decide too little; give at least %d runs of %d networks",
        steps.size(),
        groups,
        groups == 1 ? "" : "s",
        LEAST_STEPS,
        LEAST_GROUPS);
    List<MeasuredStep> weighted = GroupWeights.of(steps);
    List<FreeConstant> free = influential(weighted, general);
    return new MachineCalibration(
        free,
        steps.stream().mapToDouble(step -> step.residual(general)).toArray(),
        ConstantsFit.of(weighted, free, general),
        LeftOutGroups.residuals(weighted, free, general, MeasuredStep::group));
  }

  /** Those that change the steps most. */
  private static List<FreeConstant> influential(
      List<MeasuredStep> steps, CalibratedConstants general) {
    double[] before = steps.stream().mapToDouble(step -> step.residual(general)).toArray();
    Map<String, Double> influence = new TreeMap<>();
    general
        .values()
        .forEach((name, value) -> {
          String kind = name.split("\\.", 2)[0];
          if (SHARES.contains(kind) || AMOUNTS.contains(kind)) {
            CalibratedConstants nudged = general.with(Map.of(name, value * (1 + NUDGE)));
            double squares = 0;
            for (int i = 0; i < before.length; i++) {
              squares += Math.pow((steps.get(i).residual(nudged) - before[i]) / NUDGE, 2);
            }
            influence.put(name, Math.sqrt(squares / before.length));
          }
        });
    return influence.entrySet().stream()
        .filter(entry -> entry.getValue() >= LEAST_INFLUENCE)
        .sorted(
            Map.Entry.<String, Double>comparingByValue(Comparator.reverseOrder())
                .thenComparing(Map.Entry.comparingByKey()))
        .limit(MOST_CONSTANTS)
        .map(entry -> free(entry.getKey(), general))
        .toList();
  }

  private static FreeConstant free(String name, CalibratedConstants general) {
    double value = general.values().getOrDefault(name, 1.0);
    boolean share = SHARES.contains(name.split("\\.", 2)[0]);
    double high =
        share
            ? Math.clamp(value * FACTOR, value * 1.001, Math.max(WHOLE, value * 1.001))
            : value * FACTOR;
    return FreeConstant.of(name, value, value / FACTOR, high, STRENGTH);
  }

  /**
   * The fitted constants with intervals and ranges for runs like these. Runs on other chips or in
   * other frameworks count as extrapolated, because the constants moved.
   */
  public CalibratedConstants calibrated(List<MeasuredStep> steps) {
    CalibratedConstants constants = fit.constants();
    Map<String, List<Integer>> classes = new TreeMap<>();
    for (int i = 0; i < steps.size(); i++) {
      MeasuredStep step = steps.get(i);
      String range = CalibratedConstants.rangeOf(step.run());
      String type = range.endsWith("moe") ? "moe" : step.run().software().framework().word();
      classes.computeIfAbsent(type, any -> new ArrayList<>()).add(i);
    }
    Map<String, Errors> errors = new HashMap<>(constants.errors());
    classes.forEach((type, indices) -> {
      double[] values = indices.stream().mapToDouble(i -> leftOut[i]).toArray();
      LogInterval inside = ConformalInterval.of(values, LEVEL);
      Errors general =
          errors.getOrDefault(
              type,
              errors.getOrDefault(
                  "dense", new Errors(inside, inside, inside.high() - inside.low())));
      LogInterval wide = general.outside();
      errors.put(
          type,
          new Errors(
              inside,
              new LogInterval(
                  Math.min(inside.low(), wide.low()), Math.max(inside.high(), wide.high())),
              LayoutDifferences.of(indices.stream().map(steps::get).toList(), values, LEVEL)
                  .orElse(general.difference())));
    });
    return new CalibratedConstants(
        constants.values(),
        errors,
        CalibratedConstants.rangesOf(steps.stream().map(MeasuredStep::run).toList()));
  }
}
