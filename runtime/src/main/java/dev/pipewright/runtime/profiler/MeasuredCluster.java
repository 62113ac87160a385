package dev.pipewright.runtime.profiler;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.GradientOverlap;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.execution.ProfilingOutcome.LinkFigures;
import dev.pipewright.execution.ProfilingOutcome.SumsInTraining;
import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Training;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Precision;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * This machine as a cluster: as many devices as the largest group of workers that was measured, a
 * worker each, which share its memory. Sixteen-bit arithmetic is not measured and taken to be as
 * fast as the other.
 *
 * <p>In training, sums of gradients are slower than between workers that do nothing else: numbers
 * come from memory instead of caches, and where processors carry messages themselves they compute
 * less meanwhile. How much slower follows from steps with and without sums ({@link
 * SumsInTraining}): a share of the rate that is achieved, and one of what computing hides.
 */
final class MeasuredCluster {
  private static final double LEAST_ACHIEVED = 0.01; // below, the measurement was disturbed

  private MeasuredCluster() {}

  static Cluster of(
      ProfilingRequest request,
      MeasuredProfile profile,
      LayersReport rates,
      List<LinkFigures> links,
      MessageOverhead overhead,
      SumsInTraining sums) {
    Cluster idle = cluster(request, rates, links);
    Training training = new Training(request.optimizer(), Precision.FP32);
    Workload workload = new Workload(Chain.of(profile.graph()), profile.profile(), training, idle);
    return inTraining(workload, overhead, sums);
  }

  /**
   * The workload's cluster, on which the oracle takes as long for the sums of a step of replicas as
   * was measured.
   */
  static Cluster inTraining(Workload workload, MessageOverhead overhead, SumsInTraining sums) {
    double bytes = Arrays.stream(workload.profile().parameterBytes()).sum();
    double achieved = share(all(workload.cluster()).allReduce(bytes), sums.after() - sums.alone());
    Cluster busy = achieving(workload.cluster(), Math.max(LEAST_ACHIEVED, achieved));
    StageCosts costs =
        new StageCosts(
            new Workload(workload.chain(), workload.profile(), workload.training(), busy));
    Collectives all = all(busy);
    double left = GradientOverlap.exposedSeconds(costs, 0, costs.size(), sums.samples(), 1, all);
    double overlap = share(sums.after() - sums.beside(), all.allReduce(bytes) - left);
    return busy.withSoftware(Software.IDEAL.withOverlap(overlap).withMessage(overhead));
  }

  private static Cluster achieving(Cluster cluster, double share) {
    return cluster.withLevels(
        cluster.levels().stream()
            .map(level ->
                new Level(
                    level.name(), level.pointToPoint(), level.collective(), level.ports(), share))
            .toList());
  }

  private static Collectives all(Cluster cluster) {
    return Collectives.achieved(cluster, IntStream.range(0, cluster.size()).toArray());
  }

  /** A share from 0 to 1; 1 where the whole is nothing. */
  private static double share(double part, double whole) {
    return whole <= 0 ? 1 : Math.clamp(part / whole, 0, 1);
  }

  private static Cluster cluster(
      ProfilingRequest request, LayersReport rates, List<LinkFigures> links) {
    int devices = links.stream().mapToInt(LinkFigures::workers).max().orElseThrow();
    FlopsPerSecond flops = new FlopsPerSecond(rates.flops());
    DeviceKind kind =
        new DeviceKind(
            MeasuredProfile.device(request),
            DeviceMemory.whole(new Bytes(Machine.availableMemory() / devices)), // what is free
            flops,
            flops,
            Optional.empty(),
            true,
            new BytesPerSecond(rates.bytesPerSecond()));
    Level level =
        new Level(
            "machine",
            link(links, LinkOperation.MESSAGE, devices),
            link(links, LinkOperation.SUM, devices));
    return Cluster.uniform(
        "%d workers on %s, %s"
            .formatted(devices, Machine.processor(), LocalDate.now(ZoneId.systemDefault())),
        kind,
        List.of(level),
        devices);
  }

  private static Link link(List<LinkFigures> links, LinkOperation operation, int workers) {
    return links.stream()
        .filter(each -> each.workers() == workers && each.operation().equals(operation.word()))
        .findFirst()
        .orElseThrow()
        .fit()
        .pieces();
  }
}
