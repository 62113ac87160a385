package dev.pipewright.predict.transformer.search;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.RunChoices;
import dev.pipewright.predict.transformer.StageSplit;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TrainingPrecision;
import dev.pipewright.predict.transformer.ZeroChoice;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The layouts of one transformer on given devices with a given batch. Valid layouts are those that
 * {@link RunChoices} accepts, with layers spread over the pipeline by {@link #split}. Of valid
 * layouts that are the same run, the space has one: chunks and sequence parallelism need a pipeline
 * and tensor parallelism, and no rank offloads more layers than it holds. Whether ZeRO 2 and 3
 * shard again after every pass differs with a pipeline only.
 *
 * <p>Every layout has a number, from the positions of its values in {@link SearchValues}: tensor
 * counts most, then context, expert, pipeline, interleave, sequence parallelism, recomputation,
 * micro-batch, choice of ZeRO and offloading. Of layouts that are equally fast the one with the
 * least number is the better one.
 *
 * @param shape of the network, with the sequences it is trained on
 * @param offloadedOptimizer share of the optimizer's state that the host holds and updates
 * @param gradientBytes as of {@link RunChoices}
 * @param devices all of which every layout uses
 * @param globalBatch sequences of a step
 */
public record SearchSpace(
    TransformerShape shape,
    GpuMachine machine,
    Framework framework,
    TrainingPrecision precision,
    boolean fusedAttention,
    double offloadedOptimizer,
    OptionalInt gradientBytes,
    int devices,
    int globalBatch,
    SearchValues values) {

  /** Throws {@link IllegalArgumentException} for counts that are not positive. */
  public SearchSpace {
    Check.that(devices >= 1, "devices=%d; write at least 1", devices);
    Check.that(globalBatch >= 1, "global_batch=%d; write at least 1", globalBatch);
  }

  /** The same on another number of devices, with all values that go with it. */
  public SearchSpace on(int otherDevices) {
    return new SearchSpace(
        shape,
        machine,
        framework,
        precision,
        fusedAttention,
        offloadedOptimizer,
        gradientBytes,
        otherDevices,
        globalBatch,
        SearchValues.all(shape, otherDevices, globalBatch, fusedAttention));
  }

  /** Whether heads go into so many equal parts. */
  boolean dividesHeads(int tensor) {
    LayerShape block = shape.stack().blocks().get(0);
    if (block.attention().heads() % tensor != 0) {
      return false;
    }
    if (block.attention() instanceof GroupedQuery attention) {
      int shared = attention.keyValueHeads();
      return shared % tensor == 0 || tensor % shared == 0;
    }
    return true;
  }

  /** Whether every mixture's experts go into so many equal parts. */
  boolean dividesExperts(int expert) {
    boolean mixtures = false;
    for (LayerShape block : shape.stack().blocks()) {
      if (block.feedForward() instanceof Mixture mixture) {
        mixtures = true;
        if (mixture.experts() % expert != 0) {
          return false;
        }
      }
    }
    return mixtures || expert == 1;
  }

  /** Data-parallel replicas; 0 where the other degrees leave a number that is not searched. */
  int data(int tensor, int context, int pipeline) {
    long replica = (long) tensor * context * pipeline;
    int left = devices % replica == 0 ? (int) (devices / replica) : 0;
    return values.data().contains(left) ? left : 0;
  }

  /** Ranks that share each expert's matrices. */
  int expertTensor(int tensor, int expert, int ranks) {
    return mixtures() ? TrainingLayout.usualExpertTensor(tensor, expert, ranks) : 1;
  }

  private boolean mixtures() {
    return shape.stack().blocks().stream().anyMatch(b -> b.feedForward() instanceof Mixture);
  }

  /** Whether the space has such a pipeline. */
  boolean dividesLayers(int pipeline, int interleave) {
    return SearchValues.dividesLayers(shape.layers(), pipeline, interleave)
        && (pipeline > 1 || interleave == 1);
  }

  /**
   * The layers of each chunk where the space has such a pipeline and they are not equally many:
   * fewer than {@code pipeline} chunks, the last ones, have one layer less than all others.
   */
  public Optional<StageSplit> split(int pipeline, int interleave) {
    int layers = shape.layers();
    boolean uneven =
        layers % ((long) pipeline * interleave) != 0 && dividesLayers(pipeline, interleave);
    int predictions = shape.prediction().map(TokenPrediction::depth).orElse(0);
    return uneven
        ? Optional.of(StageSplit.even(pipeline, interleave, layers, predictions, false, false))
        : Optional.empty();
  }

  /** Micro-batches of a step per replica; 0 where they do not fill the batch or the chunks. */
  int microBatches(int data, int microBatch, int pipeline, int interleave) {
    long together = (long) data * microBatch;
    if (globalBatch % together != 0) {
      return 0;
    }
    int batches = (int) (globalBatch / together);
    return interleave == 1 || batches % pipeline == 0 ? batches : 0;
  }

  /** How many of the values of offloading, which rise, a rank of such a pipeline can have. */
  int offloads(int pipeline) {
    int held = shape.layers() / pipeline;
    int count = 0;
    for (int layers : values.offload()) {
      count += layers <= held ? 1 : 0;
    }
    return count;
  }

  /** How many of {@link #zeroChoices} differ with such a pipeline: the first of them. */
  int zeros(int pipeline) {
    return pipeline == 1 ? values.zero().size() : zeroChoices().size();
  }

  /** All choices of ZeRO: each stage once, then those that differ with a pipeline. */
  List<ZeroChoice> zeroChoices() {
    return values.reshard().stream()
        .flatMap(reshard -> values.zero().stream().map(stage -> new ZeroChoice(stage, reshard)))
        .distinct()
        .toList();
  }

  /** The cell of two degrees in the heat map. */
  int heatCell(int tensor, int pipeline) {
    return values.tensor().indexOf(tensor) * values.pipeline().size()
        + values.pipeline().indexOf(pipeline);
  }

  /** How many of the values of sequence parallelism differ under such tensor parallelism. */
  int sequenceChoices(int tensor) {
    return tensor == 1 ? 1 : values.sequenceParallel().size();
  }

  /** Numbers that layouts of one micro-batch and recomputation take: stages times offloading. */
  int numbersOfMicroBatch() {
    return zeroChoices().size() * values.offload().size();
  }

  /** Numbers that layouts with the same degrees and chunks take. */
  long numbersOfMesh() {
    return (long) values.sequenceParallel().size()
        * values.recompute().size()
        * values.microBatch().size()
        * numbersOfMicroBatch();
  }

  /** The number of the first layout with such degrees, which are given by their positions. */
  long number(int tensor, int context, int expert, int pipeline, int interleave) {
    long mesh = tensor;
    mesh = mesh * values.context().size() + context;
    mesh = mesh * values.expert().size() + expert;
    mesh = mesh * values.pipeline().size() + pipeline;
    mesh = mesh * values.interleave().size() + interleave;
    return Math.multiplyExact(mesh, numbersOfMesh());
  }

  /** The layout of a number. */
  SearchedLayout layout(long number) {
    Digits digits = new Digits(number);
    int offload = digits.next(values.offload().size());
    ZeroChoice zero = zeroChoices().get(digits.next(zeroChoices().size()));
    int microBatch = digits.next(values.microBatch().size());
    int recompute = digits.next(values.recompute().size());
    int sequence = digits.next(values.sequenceParallel().size());
    int interleave = values.interleave().get(digits.next(values.interleave().size()));
    int pipeline = values.pipeline().get(digits.next(values.pipeline().size()));
    int expert = values.expert().get(digits.next(values.expert().size()));
    int context = values.context().get(digits.next(values.context().size()));
    int tensor = values.tensor().get(digits.next(values.tensor().size()));
    int data = data(tensor, context, pipeline);
    return new SearchedLayout(
        new TrainingLayout(
            tensor,
            pipeline,
            data,
            context,
            interleave,
            expert,
            expertTensor(tensor, expert, tensor * context * data),
            zero.stage(),
            data * context,
            zero.reshard(),
            values.sequenceParallel().get(sequence),
            globalBatch,
            values.microBatch().get(microBatch)),
        values.recompute().get(recompute),
        values.offload().get(offload));
  }

  /** A run in a layout; throws {@link IllegalArgumentException} where it is not valid. */
  public RunChoices choices(SearchedLayout searched) {
    return new RunChoices(
        shape,
        machine,
        framework,
        searched.layout(),
        split(searched.layout().pipeline(), searched.layout().interleave()),
        precision,
        fusedAttention,
        searched.recompute(),
        Optional.empty(),
        searched.offloadedLayers(),
        offloadedOptimizer,
        gradientBytes);
  }

  /** The digits of a number in mixed bases, the last first. */
  private static final class Digits {
    private long rest;

    Digits(long number) {
      this.rest = number;
    }

    int next(int base) {
      int digit = (int) (rest % base);
      rest /= base;
      return digit;
    }
  }
}
