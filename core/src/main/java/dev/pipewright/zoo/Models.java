package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.units.Precision;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * Networks by name. A network is built when it is asked for, and anew each time.
 *
 * <ul>
 *   <li>The benchmarks of DAPPLE (Fan et al., PPoPP 2021, arXiv:2007.01045, Table II and §VI-A),
 *       trained as there: Adam for the language models, SGD with momentum for VGG and ResNet,
 *       RMSProp for AmoebaNet: {@code gnmt-16}, {@code bert-48}, {@code xlnet-36}, {@code
 *       resnet-50}, {@code vgg-19}, {@code amoebanet-36}.
 *   <li>Convolutional networks, trained with momentum: {@code alexnet}, {@code vgg-16}, {@code
 *       resnet-18}, {@code -34}, {@code -101}, {@code -152}, {@code inception-v3}, and the three
 *       cubes of {@code cosmoflow}.
 *   <li>Transformers, trained with Adam: {@code vit-b-16}, {@code bert-base}, {@code bert-large},
 *       {@code gpt-2} and its three larger forms.
 *   <li>Small ones that train anywhere: {@code mlp-8x1024}, {@code cnn-64-128-256}, {@code
 *       gpt-8x256}.
 * </ul>
 *
 * <p>All sources train in 32 bits; {@link ZooModel#trainedOn} says what a cluster makes of that.
 * {@link #forms} lists the names with parameters.
 */
public final class Models {
  static final String DAPPLE = "; trained as in DAPPLE, PPoPP 2021, Table II";
  private static final String PARADL = "; shapes of ParaDL, Kahira et al., HPDC 2021";
  static final String BERT = "BERT, Devlin et al., NAACL 2019";
  static final String GPT = "GPT-2, Radford et al. 2019";
  static final String RESNET = "ResNet, He et al. 2016";
  static final String VGG = "VGG, Simonyan and Zisserman 2015";
  static final String GNMT = "GNMT, Wu et al. 2016";
  static final String VIT = "ViT, Dosovitskiy et al., ICLR 2021";
  static final String PERCEPTRON = "a plain perceptron";
  static final String CONVOLUTIONS = "pairs of convolutions as in VGG, for small images";
  static final String UNTIED = "; with a head of its own";
  static final String COSMOFLOW = "CosmoFlow, Mathuriya et al., SC 2018" + PARADL;

  private Models() {}

  /** The names without parameters, group by group; DAPPLE's in the order of its Table II. */
  public static List<String> names() {
    return Stream.of(dappleNames(), convolutionalNames(), transformerNames(), smallNames())
        .flatMap(List::stream)
        .toList();
  }

  private static List<String> dappleNames() {
    return List.of("gnmt-16", "bert-48", "xlnet-36", "resnet-50", "vgg-19", "amoebanet-36");
  }

  private static List<String> convolutionalNames() {
    return List.of(
        "alexnet",
        "vgg-16",
        "resnet-18",
        "resnet-34",
        "resnet-101",
        "resnet-152",
        "inception-v3",
        "cosmoflow-128",
        "cosmoflow-256",
        "cosmoflow-512");
  }

  private static List<String> transformerNames() {
    return List.of(
        "vit-b-16", "bert-base", "bert-large", "gpt-2", "gpt-2-medium", "gpt-2-large", "gpt-2-xl");
  }

  private static List<String> smallNames() {
    return List.of("mlp-8x1024", "cnn-64-128-256", "gpt-8x256");
  }

  /**
   * The names with parameters, as a person would read them. Every key may be left out and is then
   * as written here.
   */
  public static List<String> forms() {
    return SizedModels.forms();
  }

  /**
   * The network called {@code name}, or empty where no name and no form fits.
   *
   * @throws IllegalArgumentException when a form fits but a parameter makes no sense, and for a
   *     transformer that no graph of layers expresses yet
   */
  public static Optional<ZooModel> find(String name) {
    if (dappleNames().contains(name)) {
      return Optional.of(dapple(name));
    }
    if (convolutionalNames().contains(name)) {
      return Optional.of(convolutional(name));
    }
    if (transformerNames().contains(name)) {
      return Optional.of(transformer(name));
    }
    return smallNames().contains(name)
        ? Optional.of(small(name))
        : SizedModels.find(name)
            .or(() ->
                Transformers.find(name)
                    .map(found -> expressed(name, found.trained(), found.source())));
  }

  /**
   * The network called {@code name} on samples of a stated length, where one is stated.
   *
   * @throws IllegalArgumentException as {@link #find(String)}, and where that network has no such
   *     samples
   */
  public static Optional<ZooModel> find(String name, OptionalInt sequence) {
    Optional<ZooModel> usual = find(name);
    if (sequence.isEmpty() || usual.isEmpty()) {
      return usual;
    }
    ZooModel zoo = usual.get();
    TransformerShape shape =
        Transformers.find(name)
            .orElseThrow(() ->
                new IllegalArgumentException(
                    name + ": is no transformer whose length can be chosen; leave it out"))
            .shape();
    try {
      LayerGraph graph = ShapedGraphs.of(name, shape.reading(sequence.getAsInt()));
      return Optional.of(
          new ZooModel(zoo.name(), graph, zoo.training(), zoo.samples(), zoo.source()));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
    }
  }

  private static ZooModel expressed(String name, TransformerShape shape, String source) {
    try {
      return shaped(name, shape, source);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
    }
  }

  /**
   * A transformer of that shape, trained with Adam.
   *
   * @throws IllegalArgumentException where blocks, embedding or head are of a kind that no graph of
   *     layers expresses yet
   */
  public static ZooModel shaped(String name, TransformerShape shape, String source) {
    int samples = shape.input() instanceof InputShape.Patches ? 32 : 1;
    return adam(name, ShapedGraphs.of(name, shape), samples, source);
  }

  /**
   * A decoder whose attention keeps no scores, trained with Adam: the same layers as {@link
   * #shaped} has where that keeps them. Empty for other networks.
   */
  public static Optional<ZooModel> fused(String name, TransformerShape shape, String source) {
    return ShapedStack.of(name, shape).map(graph -> adam(name, graph, 1, source));
  }

  private static ZooModel dapple(String name) {
    return switch (name) {
      case "gnmt-16" -> adam(name, Gnmt.gnmt16(), 64, GNMT + DAPPLE);
      case "bert-48" -> bert(name, 48);
      case "xlnet-36" -> adam(name, XlNet.xlnet36(), 1, "XLNet, Yang et al. 2019" + DAPPLE);
      case "resnet-50" -> momentum(name, SizedModels.image(name), 128, RESNET + DAPPLE);
      case "vgg-19" -> momentum(name, SizedModels.image(name), 32, VGG + DAPPLE);
      case "amoebanet-36" -> amoebaNet(name);
      default -> throw new IllegalStateException(name);
    };
  }

  private static ZooModel convolutional(String name) {
    return switch (name) {
      case "alexnet" -> momentum(name, AlexNet.alexNet(), 128, "AlexNet, Krizhevsky 2014");
      case "vgg-16" -> momentum(name, SizedModels.image(name), 32, VGG);
      case "resnet-18" -> momentum(name, SizedModels.image(name), 32, RESNET);
      case "resnet-34" -> momentum(name, SizedModels.image(name), 32, RESNET);
      case "resnet-101" -> momentum(name, SizedModels.image(name), 32, RESNET);
      case "resnet-152" -> momentum(name, SizedModels.image(name), 32, RESNET);
      case "inception-v3" ->
          momentum(name, InceptionV3.inceptionV3(), 32, "Inception-v3, Szegedy et al. 2016");
      case "cosmoflow-128" -> momentum(name, CosmoFlow.cosmoFlow128(), 1, COSMOFLOW);
      case "cosmoflow-256" -> momentum(name, CosmoFlow.cosmoFlow256(), 1, COSMOFLOW);
      case "cosmoflow-512" -> momentum(name, CosmoFlow.cosmoFlow512(), 1, COSMOFLOW);
      default -> throw new IllegalStateException(name);
    };
  }

  private static ZooModel transformer(String name) {
    return switch (name) {
      case "vit-b-16" -> adam(name, VisionTransformer.base16().graph(name), 32, VIT);
      case "bert-base" -> adam(name, Transformer.bert(12, 768, 12).bert(name), 16, BERT);
      case "bert-large" -> adam(name, Transformer.bert(24, 1024, 16).bert(name), 4, BERT);
      case "gpt-2" -> adam(name, Transformer.gpt2(12, 768, 12).gpt(name), 1, GPT);
      case "gpt-2-medium" -> adam(name, Transformer.gpt2(24, 1024, 16).gpt(name), 1, GPT);
      case "gpt-2-large" -> adam(name, Transformer.gpt2(36, 1280, 20).gpt(name), 1, GPT);
      case "gpt-2-xl" -> adam(name, Transformer.gpt2(48, 1600, 25).gpt(name), 1, GPT);
      default -> throw new IllegalStateException(name);
    };
  }

  private static ZooModel small(String name) {
    return switch (name) {
      case "mlp-8x1024" ->
          momentum(name, SmallNetworks.perceptron(name, 8, 1024, 1024, 10), 64, PERCEPTRON);
      case "cnn-64-128-256" -> momentum(name, SizedModels.image(name), 32, CONVOLUTIONS);
      case "gpt-8x256" -> adam(name, SmallNetworks.languageModel(name), 8, GPT + UNTIED);
      default -> throw new IllegalStateException(name);
    };
  }

  static ZooModel bert(String name, int layers) {
    return adam(name, Transformer.bertLarge(layers).bertWithMask(name), 2, BERT + DAPPLE);
  }

  static ZooModel adam(String name, LayerGraph graph, int samples, String source) {
    return trained(name, graph, Optimizer.ADAM, samples, source);
  }

  static ZooModel momentum(String name, LayerGraph graph, int samples, String source) {
    return trained(name, graph, Optimizer.MOMENTUM, samples, source);
  }

  private static ZooModel amoebaNet(String name) {
    String source = "AmoebaNet-D, Real et al., AAAI 2019" + DAPPLE;
    return trained(name, AmoebaNet.amoebaNet36(), Optimizer.RMSPROP, 1, source);
  }

  private static ZooModel trained(
      String name, LayerGraph graph, Optimizer optimizer, int samples, String source) {
    Training training = new Training(optimizer, Precision.FP32);
    return new ZooModel(name, graph, training, samples, source);
  }
}
