package dev.pipewright.predict.paradl;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.Workload;
import dev.pipewright.predict.paradl.Study.Resource;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.Seconds;
import java.util.ArrayList;
import java.util.List;

/** The same workload on a machine that has more or less of one thing. */
final class OtherMachine {
  private OtherMachine() {}

  static Workload with(Workload workload, Resource resource, double factor) {
    return switch (resource) {
      case BANDWIDTH -> on(workload, links(workload.cluster(), 1, factor));
      case LATENCY -> on(workload, links(workload.cluster(), factor, 1));
      case MEMORY -> {
        double bytes = workload.cluster().device(0).memory().value() * factor;
        yield on(workload, workload.cluster().withMemory(Bytes.of(bytes)));
      }
      case COMPUTE ->
          new Workload(
              workload.chain(),
              workload.profile().slower(1 / factor),
              workload.training(),
              workload.cluster());
    };
  }

  private static Workload on(Workload workload, Cluster cluster) {
    return new Workload(workload.chain(), workload.profile(), workload.training(), cluster);
  }

  private static Cluster links(Cluster cluster, double latency, double bandwidth) {
    List<Level> levels = new ArrayList<>();
    for (Level level : cluster.levels()) {
      Link message = link(level.pointToPoint(), latency, bandwidth);
      Link ring = link(level.collective(), latency, bandwidth);
      levels.add(new Level(level.name(), message, ring, level.ports(), level.achieved()));
    }
    return cluster.withLevels(levels);
  }

  private static Link link(Link link, double latency, double bandwidth) {
    List<Link.Piece> small = new ArrayList<>();
    for (Link.Piece piece : link.small()) {
      small.add(
          new Link.Piece(
              piece.upToBytes(),
              new Seconds(piece.latency().value() * latency),
              new BytesPerSecond(piece.bandwidth().value() * bandwidth)));
    }
    return new Link(
        new Seconds(link.latency().value() * latency),
        new BytesPerSecond(link.bandwidth().value() * bandwidth),
        small);
  }
}
