package dev.pipewright.runtime.metrics;

/** Where measured values go. */
public interface MetricSink extends AutoCloseable {
  void record(StepMetrics metrics);

  @Override
  void close();
}
