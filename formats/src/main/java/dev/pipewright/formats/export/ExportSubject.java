package dev.pipewright.formats.export;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * A plan with what its export needs to know of network and cluster. The chain of a decoder is its
 * embedding, its blocks, layers of multi-token prediction where the plan has them, and its head
 * with the last normalisation.
 *
 * @param model the network's name
 * @param shape of a transformer; empty for other networks
 * @param constants of a transformer, which its source states
 * @param layers names of the chain's layers
 * @param perNode devices of a node
 * @param training optimizer and precision
 */
public record ExportSubject(
    PipelinePlan plan,
    String model,
    Optional<TransformerShape> shape,
    TransformerConstants constants,
    List<String> layers,
    int perNode,
    Training training) {
  public ExportSubject {
    layers = List.copyOf(layers);
  }

  /**
   * A plan of a network on a cluster.
   *
   * @param format of the network's file, where it was named
   */
  public static ExportSubject of(Costed costed, PipelinePlan plan, Optional<String> format) {
    Workload workload = costed.workload();
    return new ExportSubject(
        plan,
        costed.model(),
        NetworkNames.transformer(costed.model(), format, costed.sequence()),
        NetworkNames.constants(costed.model(), format),
        names(workload.chain()),
        perNode(workload.cluster()),
        workload.training());
  }

  private static List<String> names(Chain chain) {
    List<String> names = new ArrayList<>();
    for (int position = 0; position < chain.size(); position++) {
      int[] added = chain.added(position);
      names.add(chain.graph().layer(added[added.length - 1]).name());
    }
    return names;
  }

  private static int perNode(Cluster cluster) {
    return (int)
        IntStream.range(0, cluster.size())
            .filter(device -> cluster.machine(device) == cluster.machine(0))
            .count();
  }

  /** Another plan of the same network on the same cluster. */
  public ExportSubject with(PipelinePlan other) {
    return new ExportSubject(other, model, shape, constants, layers, perNode, training);
  }

  /**
   * Whether the network is a decoder whose blocks are the layers between the first and the last.
   */
  boolean isDecoder() {
    return shape
        .filter(s ->
            s.encoder().isEmpty()
                && s.stack().causal()
                && s.input() instanceof InputShape.Words
                && s.head().size() == 1
                && s.head().get(0) instanceof HeadPart.Scores
                && (s.stack().size() + 2 == plan.layers()
                    || s.stack().size() + 2 + depth(s) == plan.layers()))
        .isPresent();
  }

  private static int depth(TransformerShape shape) {
    return shape.prediction().map(TokenPrediction::depth).orElse(0);
  }

  /** Layers of multi-token prediction among a decoder's. */
  int predictions() {
    return shape.map(s -> Math.max(0, plan.layers() - 2 - s.stack().size())).orElse(0);
  }

  /** How many of them a stage holds. */
  int predictions(int stage) {
    StagePlan own = plan.stages().get(stage);
    int first = Math.max(own.firstLayer(), 1 + blocks());
    return Math.max(0, Math.min(own.lastLayer(), plan.layers() - 2) - first + 1);
  }

  /** The blocks of a decoder. */
  int blocks() {
    return plan.layers() - 2 - predictions();
  }

  /** The blocks of a decoder before a position of the chain. */
  private int blocksBefore(int position) {
    return Math.max(0, Math.min(blocks(), position - 1));
  }

  /** The first block of a decoder's stage, from 0. */
  int firstBlock(int stage) {
    return blocksBefore(plan.stages().get(stage).firstLayer());
  }

  /** How many blocks of a decoder a stage holds. */
  int blocks(int stage) {
    return blocksBefore(plan.stages().get(stage).lastLayer() + 1) - firstBlock(stage);
  }

  /** Whether a decoder's stage holds the embedding. */
  boolean embeds(int stage) {
    return plan.stages().get(stage).firstLayer() == 0;
  }

  /** Whether a decoder's stage holds the head. */
  boolean scores(int stage) {
    return plan.stages().get(stage).lastLayer() == plan.layers() - 1;
  }

  /** Pipeline ranks. */
  int ranks() {
    return plan.placement().ranks();
  }

  /** Stages of a rank. */
  int chunks() {
    Placement placement = plan.placement();
    return placement.depth() / placement.ranks();
  }

  private StagePlan first() {
    return plan.stages().get(0);
  }

  /** How the first stage's devices divide its layers; those of all stages under most rules. */
  Parallelism parallelism() {
    return first().parallelism();
  }

  /** Devices of the first stage that divide each layer together. */
  int tensor() {
    return parallelism().parts();
  }

  /** The degree of data parallelism of the first stage. */
  int data() {
    return first().replicas();
  }

  /**
   * Data-parallel ranks of the first stage as frameworks count them: all that have samples of their
   * own, also where they divide experts.
   */
  int dataRanks() {
    return data() * parallelism().sampleParts();
  }

  /** Samples of a micro-batch on each of these. */
  int perDataRank() {
    return plan.microBatching() / dataRanks();
  }

  /** Whether tensor-parallel ranks have whole experts, which they divide otherwise. */
  boolean wholeExperts() {
    return parallelism().expertParts() > 1 && parallelism().featureParts() > 1;
  }

  /** Devices of the plan. */
  int devices() {
    return plan.devices();
  }

  /** Samples of a micro-batch on a data-parallel rank of the first stage. */
  int perRank() {
    return plan.microBatching() / data();
  }

  /** Nodes that the plan's devices fill, from the first on. */
  int nodes() {
    return (devices() + perNode - 1) / perNode;
  }

  /** Devices of the plan in a node. */
  int usedPerNode() {
    return Math.min(devices(), perNode);
  }

  /** The number in which all stages agree; empty where they differ. */
  OptionalInt blocksOfEach() {
    int each = blocks(0);
    for (int stage = 1; stage < plan.stages().size(); stage++) {
      if (blocks(stage) != each) {
        return OptionalInt.empty();
      }
    }
    return OptionalInt.of(each);
  }

  /** Degrees in a line: {@code 16 devices: pipeline 2, data 4, tensor 2}. */
  String degrees() {
    boolean tokens = parallelism().dividesTokens();
    int experts = parallelism().expertParts();
    String around =
        experts > 1
            ? "%s %d, ".formatted(Parallelism.Kind.EXPERT.word(), experts)
            : "%s %d, ".formatted(Parallelism.Kind.CONTEXT.word(), parallelism().copies());
    return "%d devices: pipeline %d, data %d, %s%s %d%s"
        .formatted(
            devices(),
            ranks(),
            data(),
            parallelism().nested() ? around : "",
            tokens ? parallelism().word() : Parallelism.Kind.TENSOR.word(),
            parallelism().pieces(),
            chunks() > 1 ? ", " + chunks() + " stages on each rank" : "");
  }
}
