package dev.pipewright.runtime.engine;

import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.data.Dataset;
import dev.pipewright.runtime.data.HostValues;
import java.util.List;

/** The source of a step's samples. All workers see the same samples; each reads what it needs. */
public interface Feed {
  /** What the network reads of some samples of a step's batch. */
  List<HostValues> inputs(long step, SampleRange samples);

  /** What it should answer. */
  HostValues target(long step, SampleRange samples);

  /** The numbers that samples of a step's batch have among all. */
  interface Numbers {
    long[] of(long step, SampleRange samples);
  }

  /** Samples of a dataset. */
  static Feed of(Dataset dataset, Numbers numbers) {
    return new Feed() {
      @Override
      public List<HostValues> inputs(long step, SampleRange samples) {
        return dataset.inputs(numbers.of(step, samples));
      }

      @Override
      public HostValues target(long step, SampleRange samples) {
        return dataset.target(numbers.of(step, samples));
      }
    };
  }
}
