package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.units.Precision;
import java.util.List;
import java.util.Optional;

/**
 * Networks by name. A network is built when it is asked for, and anew each time.
 *
 * <p>The fixed names are the benchmarks of DAPPLE (Fan et al., PPoPP 2021, arXiv:2007.01045, Table
 * II and §VI-A), trained as there: Adam for the language models, SGD with momentum for VGG and
 * ResNet, RMSProp for AmoebaNet, all in 32 bits. {@link #forms} lists the names with parameters.
 */
public final class Models {
  private static final String DAPPLE = "; trained as in DAPPLE, PPoPP 2021, Table II";
  private static final String BERT = "BERT, Devlin et al., NAACL 2019" + DAPPLE;
  private static final String[] KEYS = {"layers", "hidden", "heads", "sequence", "vocabulary"};

  private Models() {}

  /** The names without parameters, in the order of DAPPLE's Table II. */
  public static List<String> names() {
    return List.of("gnmt-16", "bert-48", "xlnet-36", "resnet-50", "vgg-19", "amoebanet-36");
  }

  /**
   * The names with parameters, as a person would read them. Every key may be left out: BERT-large
   * and GPT-2 medium stand behind it.
   */
  public static List<String> forms() {
    return List.of(
        "bert-<layers>",
        "bert:layers=24,hidden=1024,heads=16,sequence=384,vocabulary=30522",
        "gpt:layers=24,hidden=1024,heads=16,sequence=1024,vocabulary=50257");
  }

  /**
   * The network called {@code name}, or empty where no name and no form fits.
   *
   * @throws IllegalArgumentException when a form fits but a parameter makes no sense
   */
  public static Optional<ZooModel> find(String name) {
    return switch (name) {
      case "gnmt-16" ->
          Optional.of(language(name, Gnmt.gnmt16(), 64, "GNMT, Wu et al. 2016" + DAPPLE));
      case "bert-48" -> Optional.of(bert(name, 48));
      case "xlnet-36" ->
          Optional.of(language(name, XlNet.xlnet36(), 1, "XLNet, Yang et al. 2019" + DAPPLE));
      case "resnet-50" ->
          Optional.of(image(name, ResNet.resnet50(), 128, "ResNet, He et al. 2016" + DAPPLE));
      case "vgg-19" ->
          Optional.of(image(name, Vgg.vgg19(), 32, "VGG, Simonyan and Zisserman 2015" + DAPPLE));
      case "amoebanet-36" -> Optional.of(amoebaNet(name));
      default -> parametric(name);
    };
  }

  private static Optional<ZooModel> parametric(String name) {
    if (name.equals("bert") || name.startsWith("bert:")) {
      int[] sizes = options(name, new int[] {24, 1024, 16, 384, 30_522});
      return Optional.of(language(name, transformer(sizes).bert(name), 2, BERT));
    }
    if (name.equals("gpt") || name.startsWith("gpt:")) {
      int[] sizes = options(name, new int[] {24, 1024, 16, 1024, 50_257});
      String source = "GPT-2, Radford et al. 2019";
      return Optional.of(language(name, transformer(sizes).gpt(name), 1, source));
    }
    if (name.startsWith("bert-") && Options.isNumber(name.substring(5))) {
      return Optional.of(bert(name, Options.number(name, "layers", name.substring(5))));
    }
    return Optional.empty();
  }

  private static int[] options(String name, int[] defaults) {
    int colon = name.indexOf(':');
    return colon < 0 ? defaults : Options.parse(name, name.substring(colon + 1), KEYS, defaults);
  }

  private static Transformer transformer(int[] sizes) {
    return new Transformer(sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]);
  }

  private static ZooModel bert(String name, int layers) {
    return language(name, Transformer.bertLarge(layers).bert(name), 2, BERT);
  }

  private static ZooModel language(String name, LayerGraph graph, int samples, String source) {
    Training training = new Training(Optimizer.ADAM, Precision.FP32);
    return new ZooModel(name, graph, training, samples, source);
  }

  private static ZooModel image(String name, LayerGraph graph, int samples, String source) {
    Training training = new Training(Optimizer.MOMENTUM, Precision.FP32);
    return new ZooModel(name, graph, training, samples, source);
  }

  private static ZooModel amoebaNet(String name) {
    Training training = new Training(Optimizer.RMSPROP, Precision.FP32);
    String source = "AmoebaNet-D, Real et al., AAAI 2019" + DAPPLE;
    return new ZooModel(name, AmoebaNet.amoebaNet36(), training, 1, source);
  }
}
