package dev.pipewright.execution;

import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.PartTimes;
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
 * micro-batch, while all teams of the stage do; and in which they put together what they were told.
 */
final class TeamSeconds {
  /** Elements that a worker reads or writes for each that is gathered: it joins the parts. */
  private static final double JOINED = 2;

  /** The same of what is summed: it sums a copy. */
  private static final double COPIED = 2;

  /** The same where it gets its part of a sum: of all parts it makes messages. */
  private static final double CUT = 2;

  /** Of its own part of such a sum, for each term: it adds that up. */
  private static final double ADDED = 3;

  private final Workload workload;
  private final PartTimes times;
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
    this.times = new PartTimes(workload);
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
    double elements = exchange.elements(samples);
    double bytes = bytes(elements);
    return switch (exchange.kind()) {
      case SUM -> teams.allReduce(bytes) + times.moving(COPIED * elements);
      case GATHER -> teams.allGather(bytes) + times.moving(JOINED * elements);
      case SUM_PARTS -> teams.reduceScatter(bytes) + times.moving((CUT + ADDED) * elements);
      case HALO -> halo(exchange); // its rows belong to what a layer computes with
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
