package dev.pipewright.predict.transformer;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.Latent;

/**
 * Elements that a GPU holds of the matrices of each kind of layer. Key-value heads that are fewer
 * than tensor-parallel ranks are replicated.
 *
 * @param dense of a dense layer
 * @param mixture of a mixture without its routed experts
 * @param experts of a mixture's local routed experts
 * @param end of the embedding, or of the head
 */
record RankWeights(double dense, double mixture, double experts, double end) {
  static RankWeights of(TransformerRun run, TransformerSizes sizes) {
    double hidden = sizes.hidden();
    double tensor = run.layout().tensor();
    double matrices = 2 + sizes.gates();
    double attention = attention(sizes, tensor);
    ExpertLoad load = ExpertLoad.of(run, sizes);
    return new RankWeights(
        attention + matrices * hidden * sizes.dense() / tensor,
        attention + hidden * sizes.experts() + matrices * hidden * sizes.sharedWidth() / tensor,
        sizes.hasMixtures()
            ? sizes.experts() / run.layout().expert() * matrices * hidden * load.width()
            : 0,
        sizes.vocabulary() * hidden / tensor);
  }

  /** All elements of a rank, by which the largest is found. */
  double elements(StageSplit.Rank rank) {
    return rank.dense() * dense
        + rank.mixtures() * (mixture + experts)
        + (rank.embeddings() + rank.heads()) * end;
  }

  private static double attention(TransformerSizes sizes, double tensor) {
    double hidden = sizes.hidden();
    double heads = sizes.heads();
    return switch (sizes.attention()) {
      case GroupedQuery grouped -> {
        double width = grouped.headWidth();
        double shared = Math.max(grouped.keyValueHeads(), tensor);
        yield hidden * (heads + 2 * shared) * width / tensor + heads * width * hidden / tensor;
      }
      case Latent latent -> {
        double rank = latent.queryRank().orElse(0);
        double key = heads * (latent.plainWidth() + latent.rotaryWidth()) / tensor;
        double value = heads * latent.valueWidth();
        yield (rank > 0 ? hidden * rank + rank * key : hidden * key)
            + hidden * (latent.keyValueRank() + latent.rotaryWidth())
            + latent.keyValueRank() * (heads * latent.plainWidth() + value) / tensor
            + value * hidden / tensor;
      }
    };
  }
}
