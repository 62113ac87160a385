package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Rotation;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Attention whose keys and values serve several heads each (J. Ainslie et al., <i>GQA</i>, EMNLP
 * 2023), with rotated queries and keys where the network's positions are rotary. A member of a
 * tensor-parallel group has some of the keys and values, with all heads that these serve.
 */
final class GroupedAttention implements Module {
  private final GroupedQuery shape;
  private final boolean causal;
  private final boolean rotates;
  private final ParallelBlock split;
  private final int served; // heads of a key
  private final int keyHeads; // this worker's
  private final Projection queries;
  private final Projection keys;
  private final Projection values;
  private final Projection out;
  private final Optional<Module> queryNorm;
  private final Optional<Module> keyNorm;

  GroupedAttention(
      GroupedQuery shape, Operator.ShapedBlock block, FirstValues first, ParallelBlock split) {
    int hidden = block.hidden();
    int width = shape.headWidth();
    boolean biased = shape.inputBiases();
    int queryWidth = Math.toIntExact(shape.queryWidth());
    int keyWidth = Math.toIntExact(shape.keyWidth());
    this.shape = shape;
    this.causal = block.causal();
    this.rotates = block.positions() instanceof Positions.Rotary;
    this.split = split;
    this.served = shape.heads() / shape.keyValueHeads();
    this.keyHeads = split.own(shape.keyValueHeads());
    int unit = served * width;
    queries = Projection.into("attention.queries", hidden, queryWidth, biased, first, split, unit);
    keys = Projection.into("attention.keys", hidden, keyWidth, biased, first, split, width);
    values = Projection.into("attention.values", hidden, keyWidth, biased, first, split, width);
    out =
        Projection.outOf(
            "attention.out", queryWidth, hidden, shape.outputBias(), first, split, unit);
    queryNorm = norm("attention.query.", queryWidth, first);
    keyNorm = norm("attention.key.", keyWidth, first);
  }

  private Optional<Module> norm(String prefix, int all, FirstValues first) {
    int width = shape.headWidth();
    return switch (shape.norm()) {
      case NONE -> Optional.empty();
      case HEAD -> Optional.of(StateNormalization.of(NormShape.RMS, prefix, width, first));
      case ALL_HEADS -> Optional.of(StateNormalization.of(NormShape.RMS, prefix, all, first));
      case LAYER_HEAD -> Optional.of(StateNormalization.of(NormShape.LAYER, prefix, width, first));
      case PLAIN -> Optional.of(StateNormalization.plainRootMeanSquare());
    };
  }

  @Override
  public List<Parameter> parameters() {
    List<Module> modules = new ArrayList<>(List.of(queries, keys, values));
    queryNorm.ifPresent(modules::add);
    keyNorm.ifPresent(modules::add);
    modules.add(out);
    return new LayerOperators(modules).parameters();
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor read = split.read(inputs.get(0));
    Tensor query = heads(queries.of(read, pass), served * keyHeads, queryNorm, pass);
    Tensor key = heads(keys.of(read, pass), keyHeads, keyNorm, pass);
    Tensor value = heads(values.of(read, pass), keyHeads, Optional.empty(), pass);
    if (rotates) {
      Rotation rotation = new Rotation(split.firstToken(), read.extent(1), shape.headWidth());
      query = rotation.of(query);
      key = rotation.of(key);
    }
    if (!split.context().alone()) {
      List<Tensor> both = ofAllTokens(key, value);
      key = both.get(0);
      value = both.get(1);
    }
    Tensor attended =
        split.attended(
            query,
            Functions.repeated(key, 1, served),
            Functions.repeated(value, 1, served),
            causal);
    return out.of(attended.transposed(1, 2).flattened(2), pass);
  }

  /** Both exchanged at once; each samples × heads × tokens × features of a head. */
  private List<Tensor> ofAllTokens(Tensor key, Tensor value) {
    Tensor rows =
        Tensor.joined(
            List.of(key.transposed(1, 2).flattened(2), value.transposed(1, 2).flattened(2)), 2);
    Tensor all = split.ofAllTokens(rows);
    return all
        .reshaped(all.extent(0), all.extent(1), 2, keyHeads, shape.headWidth())
        .entries(2)
        .stream()
        .map(each -> each.transposed(1, 2))
        .toList();
  }

  /** Samples × heads × steps × features of a head. */
  private Tensor heads(Tensor rows, int count, Optional<Module> norm, ForwardPass pass) {
    boolean together = shape.norm() == QueryKeyNorm.ALL_HEADS;
    Tensor normalized = together ? normalized(rows, norm, pass) : rows;
    Tensor apart = normalized.reshaped(rows.extent(0), rows.extent(1), count, shape.headWidth());
    return (together ? apart : normalized(apart, norm, pass)).transposed(1, 2);
  }

  private static Tensor normalized(Tensor rows, Optional<Module> norm, ForwardPass pass) {
    return norm.map(module -> module.forward(List.of(rows), pass)).orElse(rows);
  }
}
