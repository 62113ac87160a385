package dev.pipewright.runtime.metrics;

/** Receives measured values. */
public interface MetricSink extends AutoCloseable {
  void record(StepMetrics metrics);

  @Override
  void close();
}
