package dev.pipewright.predict.transformer;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.Latent;
import dev.pipewright.predict.transformer.RecomputePolicy.Full;
import dev.pipewright.predict.transformer.RecomputePolicy.Module;
import dev.pipewright.predict.transformer.RecomputePolicy.PerOperator;
import dev.pipewright.predict.transformer.RecomputePolicy.Selective;
import dev.pipewright.predict.transformer.TransformerRun.Offload.Part;

/**
 * Bytes of one layer and micro-batch that wait for the backward pass, counted from the tensors that
 * it reads.
 *
 * <p>Source: V. Korthikanti et al., <i>Reducing activation recomputation in large transformer
 * models</i>, MLSys 2023, arXiv:2205.05198, §4.1; their 34 bytes for each token and feature are
 * these tensors with dropout and a perceptron of width 4h.
 *
 * @param norms inputs and outputs of both norms, or under full recomputation the layer's input
 * @param masks of dropout
 * @param queries queries, keys and values, and what they are made from
 * @param attention its output
 * @param scores of unfused attention
 * @param perceptron of a dense layer, or what all tokens of a mixture pass
 * @param router of a mixture
 * @param dispatch inputs and outputs of the experts
 * @param experts their inner layers
 */
record LayerActivations(
    double norms,
    double masks,
    double queries,
    double attention,
    double scores,
    double perceptron,
    double router,
    double dispatch,
    double experts) {
  private static final double HALF = 2; // bytes of an element
  private static final double SCORE_WITH_DROPOUT = 5;
  private static final double SCORE = 2;
  private static final double ROUTED = 9; // of a token's score of an expert: fp32 twice, and a flag

  /** What waits of a layer under the run's recomputation. */
  static LayerActivations of(TransformerRun run, TransformerSizes sizes, boolean mixture) {
    return run.recompute() instanceof Full
        ? new LayerActivations(
            HALF * run.tokens() * sizes.hidden() / run.layout().normRanks(), 0, 0, 0, 0, 0, 0, 0, 0)
        : counted(run, sizes, mixture);
  }

  /** What a layer's backward pass reads, without what the run recomputes of it. */
  static LayerActivations counted(TransformerRun run, TransformerSizes sizes, boolean mixture) {
    boolean core = recomputes(run, Module.CORE_ATTN);
    boolean norms = recomputes(run, Module.LAYERNORM);
    double tokens = run.tokens();
    double tensor = run.layout().tensor();
    double states = tokens * sizes.hidden() / run.layout().normRanks();
    double inputs = run.formats().products().narrow() ? 1 : HALF; // of products, as they are kept
    double inner = HALF * (1 + sizes.gates()) + inputs; // of a perceptron's inner feature
    LayerActivations kept =
        new LayerActivations(
            (norms ? 4 : 4 + 2 * inputs) * states,
            run.kept().hiddenDropout() ? 2 * states : 0,
            queries(run, sizes),
            HALF * tokens * sizes.heads() * sizes.valueWidth() / tensor,
            run.fusedAttention() || core ? 0 : scores(run, sizes),
            mixture
                ? inner * tokens * sizes.sharedWidth() / tensor
                : recomputes(run, Module.MLP) ? 0 : inner * tokens * sizes.dense() / tensor,
            0,
            0,
            0);
    LayerActivations all = mixture ? kept.withExperts(run, sizes, inputs, inner) : kept;
    return run.recompute() instanceof PerOperator ? all.half() : all;
  }

  private static boolean recomputes(TransformerRun run, Module module) {
    return run.recompute() instanceof Selective selective && selective.has(module);
  }

  private static double queries(TransformerRun run, TransformerSizes sizes) {
    double tokens = run.tokens();
    double tensor = run.layout().tensor();
    double heads = sizes.heads();
    return switch (sizes.attention()) {
      case GroupedQuery grouped -> {
        double shared = Math.max(grouped.keyValueHeads(), tensor);
        double width = grouped.headWidth() / tensor;
        double products = HALF * tokens * (heads + 2 * shared) * width;
        // rotated copies: a view of the value keeps the product alive
        yield products + (sizes.rotary() ? HALF * tokens * (heads + shared) * width : 0);
      }
      case Latent latent -> {
        double rank = latent.queryRank().orElse(0);
        double vectors = 4 * (rank + latent.keyValueRank() + latent.rotaryWidth()); // and normed
        double head =
            2 * (latent.plainWidth() + latent.rotaryWidth())
                + latent.plainWidth()
                + 2 * latent.valueWidth();
        boolean recomputed = recomputes(run, Module.MLA_UP_PROJ);
        yield tokens * vectors + (recomputed ? 0 : HALF * tokens * heads / tensor * head);
      }
    };
  }

  private static double scores(TransformerRun run, TransformerSizes sizes) {
    double sequence = run.shape().sequence();
    double bytes = run.kept().attentionDropout() ? SCORE_WITH_DROPOUT : SCORE;
    return bytes
        * run.layout().microBatch()
        * sizes.heads()
        / run.layout().tensor()
        * sequence
        * sequence
        / run.layout().context();
  }

  private LayerActivations withExperts(
      TransformerRun run, TransformerSizes sizes, double inputs, double inner) {
    ExpertLoad load = ExpertLoad.of(run, sizes);
    boolean moe = recomputes(run, Module.MOE);
    double inside = recomputes(run, Module.MOE_ACT) ? inner - inputs : inner;
    double tokens = run.tokens();
    // a dispatcher that weights inside the expert does not keep the combined copies
    double combined =
        run.routing().oneCopyPerTarget()
            ? 0
            : HALF * sizes.hidden() * sizes.chosen() * tokens / run.layout().tensor();
    return new LayerActivations(
        norms,
        masks,
        queries,
        attention,
        scores,
        perceptron,
        ROUTED * tokens * sizes.experts() / run.layout().normRanks(),
        moe ? 0 : inputs * sizes.hidden() * load.rows() + combined,
        moe ? 0 : inside * load.width() * load.rows());
  }

  private LayerActivations half() {
    return new LayerActivations(
        norms / 2,
        masks / 2,
        queries / 2,
        attention / 2,
        scores / 2,
        perceptron / 2,
        router / 2,
        dispatch / 2,
        experts / 2);
  }

  double total() {
    return norms + masks + queries + attention + scores + perceptron + router + dispatch + experts;
  }

  /** Bytes that offloading modules moves to the host. */
  double moved(TransformerRun.Offload offload) {
    double sum = 0;
    if (offload.parts().contains(Part.EXPERT_FC1)) {
      sum += dispatch;
    }
    if (offload.parts().contains(Part.MOE_ACT)) {
      sum += experts;
    }
    if (offload.parts().contains(Part.ATTN_NORM) || offload.parts().contains(Part.MLP_NORM)) {
      sum += norms;
    }
    if (offload.parts().contains(Part.QKV_LINEAR)) {
      sum += queries;
    }
    boolean core = offload.parts().contains(Part.CORE_ATTN);
    if (core || offload.parts().contains(Part.ATTN_PROJ)) {
      sum += attention;
    }
    return core ? sum + scores : sum;
  }
}
