package dev.pipewright.zoo;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Samples;
import dev.pipewright.model.Training;
import dev.pipewright.units.Check;
import dev.pipewright.units.Precision;
import java.util.OptionalLong;

/**
 * A network of the zoo and how its source trains it.
 *
 * @param name what {@link Models#find} finds it by
 * @param training optimizer and precision of the source's experiments
 * @param samples the slice that the source measured it with; a default where the user gives none
 * @param source the publications that its shapes and its training come from
 */
public record ZooModel(
    String name, LayerGraph graph, Training training, int samples, String source) {
  /** Training images of ImageNet-1k (O. Russakovsky et al., IJCV 2015, Table 2). */
  private static final long IMAGENET = 1_281_167;

  private static final int IMAGENET_CLASSES = 1000;

  /** CosmoFlow's samples, as ParaDL (Kahira et al., HPDC 2021, Table 5) counts them. */
  private static final long COSMOFLOW = 1584;

  public ZooModel {
    Check.that(samples >= 1, "a slice has samples: model=%s, samples=%d", name, samples);
  }

  /**
   * How it is trained on a cluster where the user says nothing. Frameworks train transformers in 16
   * bits wherever tensor cores compute in them: in bfloat16 or, on devices without it (V100), in
   * half precision. Other networks keep the precision of their source's experiments, and so do all
   * on clusters of published runs ({@link dev.pipewright.cluster.Software}).
   */
  public Training trainedOn(Cluster cluster) {
    Precision usual =
        cluster
            .software()
            .precision()
            .orElseGet(() -> isTransformer() ? sixteenBits(cluster) : training.precision());
    return new Training(training.optimizer(), usual);
  }

  private Precision sixteenBits(Cluster cluster) {
    if (!cluster.devices().stream().allMatch(DeviceKind::hasTensorCores)) {
      return training.precision();
    }
    return cluster.devices().stream().allMatch(kind -> kind.computes(Precision.BF16))
        ? Precision.BF16
        : Precision.FP16;
  }

  /** Whether its layers are blocks of attention and perceptrons. */
  public boolean isTransformer() {
    for (Layer layer : graph.layers()) {
      if (layer.operator() instanceof Operator.TransformerBlock
          || layer.operator() instanceof Operator.ShapedBlock
          || layer.operator() instanceof Operator.Attention
          || (layer.operator() instanceof Operator.Block block
              && block.kind().equals("transformer block"))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Samples that a device is usually given for an iteration: 32 images or rows of features, one
   * sequence or volume. The same for all networks of a kind, so that they can be compared.
   */
  public int usualBatchPerDevice() {
    return switch (Samples.of(graph)) {
      case IMAGES, VECTORS -> 32;
      case SEQUENCES, VOLUMES, UNKNOWN -> 1;
    };
  }

  /**
   * Samples of the data set that the source trains it on: ImageNet for images of a thousand
   * classes, CosmoFlow's cubes. Empty for networks that no one data set belongs to.
   */
  public OptionalLong samplesPerEpoch() {
    long classes = graph.layer(graph.topological()[graph.size() - 1]).outputElements();
    return switch (Samples.of(graph)) {
      case IMAGES -> classes == IMAGENET_CLASSES ? OptionalLong.of(IMAGENET) : OptionalLong.empty();
      case VOLUMES -> OptionalLong.of(COSMOFLOW);
      default -> OptionalLong.empty();
    };
  }
}
