package dev.pipewright.formats.export;

import dev.pipewright.plan.ZeroStage;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Which shardings of states, and which sums of gradients, frameworks have. */
final class StateRules {
  private StateRules() {}

  /**
   * The ZeRO stage is one of these; the nearest is the next higher one where there is one,
   * otherwise the next lower one. A plan without data parallelism shards nothing.
   *
   * @param known by plan: those that the framework has for its other parts
   * @param why words for where it has so few
   */
  static ExportRule sharding(Function<ExportSubject, List<ZeroStage>> known, String why) {
    return exported -> {
      ZeroStage own = exported.plan().sharding();
      List<ZeroStage> all = known.apply(exported);
      boolean free = own == ZeroStage.NOTHING && !replicates(exported);
      if (free || all.contains(own)) {
        return Optional.empty();
      }
      ZeroStage nearest =
          all.stream()
              .filter(stage -> stage.atLeast(own))
              .findFirst()
              .orElseGet(() -> all.get(all.size() - 1));
      return Optional.of(
          new Gap(
              (own == ZeroStage.NOTHING ? "replicated states" : "ZeRO " + own.level())
                  + why
                  + " (it has ZeRO "
                  + all.stream()
                      .map(stage -> String.valueOf(stage.level()))
                      .collect(Collectors.joining(" and "))
                  + ")",
              PlanChanges.checked(() -> exported.plan().with(nearest))));
    };
  }

  /** Whether several devices compute other samples with the same parameters. */
  static boolean replicates(ExportSubject exported) {
    return exported.plan().stages().stream().anyMatch(stage -> stage.replicas() > 1);
  }

  /**
   * Whether gradients are summed while others are computed, where that is not the plan's to say.
   *
   * @param overlaps by plan: what the framework does; empty where it can do both
   */
  static ExportRule overlap(Function<ExportSubject, Optional<Boolean>> overlaps) {
    return exported -> {
      Optional<Boolean> theirs = overlaps.apply(exported);
      boolean own = exported.plan().overlapGradients();
      if (theirs.isEmpty() || theirs.get() == own || !replicates(exported)) {
        return Optional.empty();
      }
      return Optional.of(
          new Gap(
              own
                  ? "sums of gradients during the last backward pass (it begins them after it)"
                  : "sums of gradients after the last backward pass (it begins them during it)",
              Optional.of(exported.plan().overlapping(!own))));
    };
  }
}
