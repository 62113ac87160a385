package dev.pipewright.predict.transformer;

import java.util.List;

/**
 * What a micro-batch takes and keeps of each chunk of a pipeline, for schedules that no formula
 * prices.
 *
 * @param chunks in the order of the layers
 */
public record PipelineParts(List<Part> chunks) {
  /**
   * Of one chunk.
   *
   * @param forward seconds of its forward pass
   * @param input seconds of the gradient of its input, with what it recomputes
   * @param weight seconds of the gradient of its weights
   * @param bytes that wait for its backward pass
   */
  public record Part(double forward, double input, double weight, double bytes) {}

  public PipelineParts {
    chunks = List.copyOf(chunks);
  }

  /**
   * Of a run.
   *
   * @throws IllegalArgumentException for networks that the formulas do not cover
   */
  public static PipelineParts of(TransformerRun run, CalibratedConstants constants) {
    TransformerSizes sizes = TransformerSizes.of(run.shape());
    StackConstants stack = StackConstants.of(constants, run);
    StageKinds kinds = StageKinds.of(run.split(), sizes);
    MicroBatchSeconds one = MicroBatchSeconds.of(run, sizes, stack);
    MicroBatchBytes bytes = MicroBatchBytes.of(run, sizes);
    StepTime step = new StepTime(run, sizes, stack, kinds);
    List<StageSplit.Rank> held = run.split().held(sizes);
    List<StageSplit.Rank> ranks = run.split().ranks(sizes);
    Part[] parts = new Part[held.size()];
    for (int i = 0; i < parts.length; i++) {
      StageSplit.Rank chunk = held.get(i);
      double slow = step.slowdown(one, kinds.kindOf(ranks.get(run.split().rank(i))));
      double forward = one.forwardPass(chunk);
      double weight = one.weightGradients(chunk);
      double input = one.total(chunk) - forward - weight;
      parts[i] = new Part(slow * forward, slow * input, slow * weight, bytes.layers(chunk));
    }
    return new PipelineParts(List.of(parts));
  }
}
