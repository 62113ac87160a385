package dev.pipewright.runtime.profiler;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.execution.ProfilingOutcome.LinkFigures;
import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;

/**
 * This machine as a cluster: as many devices as the largest group of workers that was measured, a
 * worker each, which share its memory. Sixteen-bit arithmetic is not measured and taken to be as
 * fast as the other.
 */
final class MeasuredCluster {
  private MeasuredCluster() {}

  static Cluster of(ProfilingRequest request, LayersReport rates, List<LinkFigures> links) {
    int devices = links.stream().mapToInt(LinkFigures::workers).max().orElseThrow();
    FlopsPerSecond flops = new FlopsPerSecond(rates.flops());
    DeviceKind kind =
        new DeviceKind(
            MeasuredProfile.device(request),
            new Bytes(Machine.availableMemory() / devices),
            flops,
            flops,
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
