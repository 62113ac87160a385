package dev.pipewright.predict.transformer.search;

import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.predict.transformer.RecomputePolicy.Module;
import dev.pipewright.units.Check;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Which values of each dimension are searched, in the order in which ties are broken: numbers rise.
 * Data parallelism takes the devices that the other degrees leave, where that is one of its values.
 *
 * @param tensor degrees of tensor parallelism
 * @param context degrees of context parallelism
 * @param expert degrees of expert parallelism
 * @param pipeline degrees of pipeline parallelism
 * @param data degrees of data parallelism
 * @param interleave chunks of each pipeline rank
 * @param microBatch sequences of a pass
 * @param sequenceParallel whether tensor parallelism shares norms and dropout
 * @param recompute what the backward pass recomputes
 * @param zero ZeRO stages
 * @param reshard whether ZeRO 2 and 3 shard again after every pass of a pipeline
 * @param offload layers of a pipeline rank that wait in the host's memory
 */
public record SearchValues(
    List<Integer> tensor,
    List<Integer> context,
    List<Integer> expert,
    List<Integer> pipeline,
    List<Integer> data,
    List<Integer> interleave,
    List<Integer> microBatch,
    List<Boolean> sequenceParallel,
    List<RecomputePolicy> recompute,
    List<Integer> zero,
    List<Boolean> reshard,
    List<Integer> offload) {
  /** Nothing, the core of attention, and whole layers. */
  public static final List<RecomputePolicy> USUAL_RECOMPUTATION =
      List.of(
          new RecomputePolicy.None(),
          new RecomputePolicy.Selective(Set.of(Module.CORE_ATTN)),
          new RecomputePolicy.Full(0, false));

  /** Throws {@link IllegalArgumentException} for dimensions without values or with some twice. */
  public SearchValues {
    tensor = counts("tensor", tensor, 1);
    context = counts("context", context, 1);
    expert = counts("expert", expert, 1);
    pipeline = counts("pipeline", pipeline, 1);
    data = counts("data", data, 1);
    interleave = counts("interleave", interleave, 1);
    microBatch = counts("micro_batch", microBatch, 1);
    sequenceParallel = distinct("sequence_parallel", sequenceParallel);
    recompute = distinct("recompute", recompute);
    zero = counts("zero", zero, 0);
    reshard = distinct("reshard", reshard);
    offload = counts("offload_layers", offload, 0);
    for (RecomputePolicy policy : recompute) {
      Check.that(
          !(policy instanceof RecomputePolicy.Full full) || full.layers() == 0,
          "recompute: full recomputation of some layers is not searched; give that of all layers");
    }
    for (int stage : zero) {
      Check.that(stage <= 3, "zero=%d is no ZeRO stage; write 0 to 3", stage);
    }
  }

  private static List<Integer> counts(String name, List<Integer> values, int least) {
    for (int value : values) {
      Check.that(value >= least, "%s=%d; write at least %d", name, value, least);
    }
    return distinct(name, values.stream().sorted().toList());
  }

  private static <T> List<T> distinct(String name, Collection<T> values) {
    Check.that(!values.isEmpty(), "%s has no values to search; give at least one", name);
    Check.that(
        new LinkedHashSet<>(values).size() == values.size(),
        "%s has a value twice: %s; give each once",
        name,
        values);
    return List.copyOf(values);
  }

  /**
   * All values that some layout of so many devices and such a batch may have. Context parallelism
   * cuts a sequence into two pieces for each device, as causal attention needs for equal loads.
   * Pipelines need not divide the layers: {@link SearchSpace#split}. Offloading is searched with
   * fused attention only, whose calibrated runs had it.
   */
  public static SearchValues all(
      TransformerShape shape, int devices, int globalBatch, boolean fusedAttention) {
    LayerShape block = shape.stack().blocks().get(0);
    int layers = shape.layers();
    List<Integer> pipeline = divisors(devices, p -> p <= layers);
    return new SearchValues(
        divisors(devices, t -> block.attention().heads() % t == 0),
        divisors(devices, c -> c == 1 || shape.sequence() % (2L * c) == 0),
        divisors(devices, x -> experts(shape) % x == 0),
        pipeline,
        divisors(devices, d -> globalBatch % d == 0),
        IntStream.rangeClosed(1, layers)
            .filter(v -> pipeline.stream().anyMatch(p -> dividesLayers(layers, p, v)))
            .boxed()
            .toList(),
        divisors(globalBatch, b -> true),
        List.of(true, false),
        USUAL_RECOMPUTATION,
        List.of(0, 1, 2, 3),
        List.of(false, true),
        IntStream.rangeClosed(0, fusedAttention ? layers : 0).boxed().toList());
  }

  /**
   * Whether the layers of a pipeline's fullest rank, ⌈layers / pipeline⌉, go into so many equal
   * chunks. Other chunks then lack at most one layer, and no rank lacks more than one: {@code
   * predict} prices such a pipeline as one of equal chunks, and Megatron-LM states it by {@code
   * --pipeline-model-parallel-layout}.
   */
  static boolean dividesLayers(int layers, int pipeline, int interleave) {
    int fullest = (layers + pipeline - 1) / pipeline;
    return fullest % interleave == 0 && (long) pipeline * interleave <= layers;
  }

  /** Experts of a mixture; 1 without one. */
  private static int experts(TransformerShape shape) {
    return shape.stack().blocks().stream()
        .flatMap(block -> block.feedForward() instanceof Mixture m ? List.of(m).stream() : null)
        .mapToInt(Mixture::experts)
        .findFirst()
        .orElse(1);
  }

  private static List<Integer> divisors(int whole, IntPredicate wanted) {
    return IntStream.rangeClosed(1, whole)
        .filter(value -> whole % value == 0 && wanted.test(value))
        .boxed()
        .toList();
  }
}
