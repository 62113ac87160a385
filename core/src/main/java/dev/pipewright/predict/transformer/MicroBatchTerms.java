package dev.pipewright.predict.transformer;

/**
 * Seconds and bytes of one micro-batch, for all runs that agree in tensor, context and expert
 * parallelism, sequence parallelism, micro-batch and recomputation. {@link StepTerms} makes them.
 */
public final class MicroBatchTerms {
  private final MicroBatchSeconds seconds;
  private final MicroBatchBytes bytes;

  MicroBatchTerms(MicroBatchSeconds seconds, MicroBatchBytes bytes) {
    this.seconds = seconds;
    this.bytes = bytes;
  }

  MicroBatchSeconds seconds() {
    return seconds;
  }

  MicroBatchBytes bytes() {
    return bytes;
  }

  /** Both passes of a dense layer in seconds; 0 where no layer is dense. */
  public double denseSeconds() {
    return seconds.denseSeconds();
  }

  /** The same of a mixture of experts. */
  public double mixtureSeconds() {
    return seconds.mixtureSeconds();
  }
}
