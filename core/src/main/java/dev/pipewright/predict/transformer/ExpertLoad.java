package dev.pipewright.predict.transformer;

/**
 * What a GPU's experts of a mixture see in a micro-batch when the load is balanced.
 *
 * @param rows pairs of a token and an expert
 * @param local experts of the GPU
 * @param width features of an expert's inner layer on the GPU
 */
record ExpertLoad(double rows, double local, double width) {
  static ExpertLoad of(TransformerRun run, TransformerSizes sizes) {
    TrainingLayout layout = run.layout();
    return new ExpertLoad(
        sizes.chosen() * run.tokens() / layout.tensor() * layout.expertTensor(),
        Math.max(1, sizes.experts() / layout.expert()),
        sizes.expertWidth() / layout.expertTensor());
  }
}
