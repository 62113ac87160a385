package dev.pipewright.runtime.data;

import java.util.List;

/**
 * Samples, each with a number from 0. Reading gives the same every time and everywhere, and may be
 * done by any thread.
 *
 * <p>What a network reads and what it should answer are read apart: of the workers that share a
 * network, one needs the first and another the second.
 */
public interface Dataset {
  long samples();

  /** What the network reads: values for each of its layers that read no other. */
  List<HostValues> inputs(long[] numbers);

  /**
   * What it should answer: a class for each row of scores (so many per sample as it has steps, one
   * sample after the other), or numbers.
   */
  HostValues target(long[] numbers);

  /** These samples, in this order. The tensors belong to the scope that is open. */
  default Batch read(long[] numbers) {
    return new Batch(
        inputs(numbers).stream().map(HostValues::tensor).toList(), target(numbers).tensor());
  }
}
