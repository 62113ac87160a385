package dev.pipewright.execution;

import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.Workload;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.TeamExchange;
import dev.pipewright.plan.TeamExchanges;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Seconds for which the workers of a split stage tell each other things, for the largest slice of a
 * micro-batch, while all teams of the stage do.
 */
final class TeamSeconds {
  private final Workload workload;
  private final int parts;
  private final List<TeamExchange> exchanges;
  private final Collectives teams;
  private final int samples;

  /**
   * @param teams devices of each
   * @param samples of the slice
   */
  TeamSeconds(Workload workload, StageLayers stage, int[][] teams, int samples) {
    this.workload = workload;
    this.parts = stage.split().parts();
    this.exchanges = TeamExchanges.of(workload.chain(), stage.range(), stage.split());
    this.teams = Collectives.achieved(workload.cluster(), teams);
    this.samples = samples;
  }

  /** In a forward or a backward pass. */
  double seconds(boolean forward) {
    return exchanges.stream()
        .filter(each -> each.forward() == forward)
        .mapToDouble(this::seconds)
        .sum();
  }

  /** In the forward passes of some layers. */
  double forward(LayerRange range) {
    Set<Integer> layers =
        Arrays.stream(workload.chain().layers(range.first() - 1, range.last()))
            .boxed()
            .collect(Collectors.toSet());
    return exchanges.stream()
        .filter(each -> each.forward() && layers.contains(each.layer()))
        .mapToDouble(this::seconds)
        .sum();
  }

  private double seconds(TeamExchange exchange) {
    double bytes = bytes((double) exchange.elements(samples));
    return switch (exchange.kind()) {
      case SUM -> teams.allReduce(bytes);
      case GATHER -> teams.allGather(bytes);
      case SUM_PARTS -> teams.reduceScatter(bytes);
      case HALO -> halo(exchange);
    };
  }

  /** A member hands its neighbours their rows one after the other. */
  private double halo(TeamExchange exchange) {
    double most = 0;
    for (int from = 0; from < parts; from++) {
      double seconds = 0;
      for (int to = 0; to < parts; to++) {
        double elements = to == from ? 0 : (double) exchange.handed().elements(from, to);
        seconds += teams.pointToPoint(bytes(elements * samples));
      }
      most = Math.max(most, seconds);
    }
    return most;
  }

  private double bytes(double elements) {
    return elements * workload.profile().precision().bytes();
  }
}
