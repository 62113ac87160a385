package dev.pipewright.runtime.engine;

import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.data.Batch;

/** Where the samples of a step come from. All workers see the same. */
public interface Feed {
  /** Some samples of a step's batch; the tensors belong to the scope that is open. */
  Batch read(long step, SampleRange samples);
}
