package dev.pipewright.predict.transformer;

import dev.pipewright.units.Check;
import dev.pipewright.units.NearCounts;
import java.util.ArrayList;
import java.util.List;

/**
 * Degrees of parallelism and batches, as in Megatron-LM. Ranks run along tensor parallelism
 * fastest, then context, data and pipeline parallelism.
 *
 * @param tensor ranks that share each layer's matrices
 * @param pipeline ranks along the layers
 * @param data replicas with samples of their own
 * @param context ranks that share each sequence
 * @param interleave chunks of layers per pipeline rank
 * @param expert ranks that share the experts of a layer
 * @param expertTensor ranks that share each expert's matrices
 * @param zero what data-parallel ranks shard: 0 nothing, 1 optimizer state, 2 also gradients, 3
 *     also parameters
 * @param shardGroup ranks that shard a parameter under ZeRO-3; replicas beyond them hold copies
 * @param reshard whether ZeRO 2 and 3 shard gradients and parameters again after every pass of a
 *     pipeline, instead of gathering and reducing once a step; without a pipeline they always do
 * @param sequenceParallel whether norms and dropout share the sequence among tensor-parallel ranks
 * @param globalBatch sequences of a step
 * @param microBatch sequences of a pass
 */
public record TrainingLayout(
    int tensor,
    int pipeline,
    int data,
    int context,
    int interleave,
    int expert,
    int expertTensor,
    int zero,
    int shardGroup,
    boolean reshard,
    boolean sequenceParallel,
    int globalBatch,
    int microBatch) {
  private static final int MOST = 1 << 20;

  /** Throws {@link IllegalArgumentException} where degrees and batches do not go together. */
  public TrainingLayout {
    degree("tensor", tensor);
    degree("pipeline", pipeline);
    degree("data", data);
    degree("context", context);
    degree("interleave", interleave);
    degree("expert", expert);
    degree("expert_tensor", expertTensor);
    degree("fsdp_degree", shardGroup);
    Check.that(0 <= zero && zero <= 3, "zero=%d is no ZeRO stage; write 0 to 3", zero);
    Check.that(globalBatch >= 1, "global_batch=%d; write at least 1", globalBatch);
    Check.that(microBatch >= 1, "micro_batch=%d; write at least 1", microBatch);
    Check.that(
        (double) tensor * pipeline * data * context <= MOST,
        "tensor × pipeline × data × context is more than %d devices; write fewer",
        MOST);
    Check.that(
        globalBatch % ((long) data * microBatch) == 0,
        "global_batch=%d is no multiple of data=%d × micro_batch=%d; write %s",
        globalBatch,
        data,
        microBatch,
        NearCounts.multiples((long) data * microBatch, globalBatch));
    sequenceParallel &= tensor > 1;
  }

  /** The same layout with so many stages on each pipeline rank. */
  public TrainingLayout withInterleave(int chunks) {
    return new TrainingLayout(
        tensor,
        pipeline,
        data,
        context,
        chunks,
        expert,
        expertTensor,
        zero,
        shardGroup,
        reshard,
        sequenceParallel,
        globalBatch,
        microBatch);
  }

  private static void degree(String name, int value) {
    Check.that(
        1 <= value && value <= MOST, "%s=%d is out of range; write 1 to %d", name, value, MOST);
  }

  public int devices() {
    return tensor * pipeline * data * context;
  }

  /** The kinds of parallelism, outermost first: {@code data+tensor+pipeline}. */
  public String strategy() {
    List<String> kinds = new ArrayList<>();
    add(kinds, "data", data);
    add(kinds, sequenceParallel ? "sequence" : "tensor", tensor);
    add(kinds, "context", context);
    add(kinds, "expert", expert);
    add(kinds, "pipeline", pipeline);
    return kinds.isEmpty() ? "serial" : String.join("+", kinds);
  }

  private static void add(List<String> kinds, String word, int degree) {
    if (degree > 1) {
      kinds.add(word);
    }
  }

  /**
   * Ranks that usually share each expert's matrices: those of tensor parallelism, or 1 where these
   * together with expert parallelism do not divide the ranks of a stage.
   *
   * @param ranks of a stage: tensor times context times data parallelism
   */
  public static int usualExpertTensor(int tensor, int expert, int ranks) {
    return ranks % ((long) tensor * expert) == 0 ? tensor : 1;
  }

  /** The same with other sharding. */
  public TrainingLayout with(ZeroChoice choice) {
    return new TrainingLayout(
        tensor,
        pipeline,
        data,
        context,
        interleave,
        expert,
        expertTensor,
        choice.stage(),
        shardGroup,
        choice.reshard(),
        sequenceParallel,
        globalBatch,
        microBatch);
  }

  /** Micro-batches of a step per replica. */
  public int microBatches() {
    return globalBatch / (data * microBatch);
  }

  /** Ranks that hold copies of a dense layer's share: data times context parallelism. */
  int replicas() {
    return data * context;
  }

  /** Ranks that hold copies of an expert's share. */
  double expertReplicas() {
    return Math.max(1.0, (double) devices() / ((double) pipeline * expert * expertTensor));
  }

  /** Ranks that share norms of a sequence. */
  int normRanks() {
    return sequenceParallel ? tensor : 1;
  }

  /** Whether gradients are sharded after every micro-batch. */
  boolean shardsGradients() {
    return zero >= 2 && shardsEachPass();
  }

  /** Whether parameters are sharded between passes. */
  boolean shardsParameters() {
    return zero == 3 && shardsEachPass();
  }

  private boolean shardsEachPass() {
    return pipeline == 1 || reshard;
  }

  /** Ranks that shard a dense parameter's optimizer state. */
  int optimizerShards() {
    return zero == 0 ? 1 : zero == 3 ? Math.min(shardGroup, replicas()) : replicas();
  }

  /** Ranks that shard an expert's optimizer state. */
  double expertShards() {
    return zero == 0 ? 1 : zero == 3 ? expertShardGroup() : expertReplicas();
  }

  /** Ranks that shard an expert's parameters: those of a shard group that hold its copies. */
  double expertShardGroup() {
    double copies = (double) shardGroup * tensor / ((double) expert * expertTensor);
    return Math.max(1, Math.min(expertReplicas(), copies));
  }
}
