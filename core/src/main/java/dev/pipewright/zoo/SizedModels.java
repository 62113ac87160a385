package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.zoo.TransformerShapes.Decoder;
import java.util.List;
import java.util.Optional;

/** Networks of any size: a name, a colon and {@code key=value,…}. */
final class SizedModels {
  private static final String[] IMAGE = {"size", "classes"};
  private static final String[] WIDE_IMAGE = {"size", "classes", "width"};
  private static final String[] LANGUAGE = {"layers", "hidden", "heads", "sequence", "vocabulary"};
  private static final String[] TRANSLATION = {"layers", "hidden", "steps", "vocabulary"};
  private static final String[] PATCHES = {"layers", "hidden", "heads", "patch", "size", "classes"};
  private static final String[] PERCEPTRON = {"layers", "hidden", "in", "classes"};
  private static final String[] CUBE = {"size", "outputs"};

  private SizedModels() {}

  static List<String> forms() {
    return List.of(
        "bert-<layers>",
        "bert:layers=24,hidden=1024,heads=16,sequence=384,vocabulary=30522",
        "gpt:layers=24,hidden=1024,heads=16,sequence=1024,vocabulary=50257",
        "gpt-untied:layers=24,hidden=1024,heads=16,sequence=1024,vocabulary=50257",
        SizedDecoders.forms().get(0),
        SizedDecoders.forms().get(1),
        "gnmt:layers=16,hidden=1024,steps=50,vocabulary=36560",
        "vit:layers=12,hidden=768,heads=12,patch=16,size=224,classes=1000",
        "resnet-<depth>:size=224,classes=1000,width=64",
        "vgg-<depth>:size=224,classes=1000,width=64",
        "cosmoflow:size=128,outputs=4",
        "cnn-64-128-256:size=32,classes=10",
        "mlp:layers=8,hidden=1024,in=1024,classes=10");
  }

  /** As {@link Models#find}. */
  static Optional<ZooModel> find(String name) {
    int colon = name.indexOf(':');
    String kind = colon < 0 ? name : name.substring(0, colon);
    return switch (kind) {
      case "bert" -> Optional.of(bert(name));
      case "gpt" -> Optional.of(Models.adam(name, decoder(name).gpt(name), 1, Models.GPT));
      case "gpt-untied" ->
          Optional.of(
              Models.adam(name, decoder(name).gptWithOwnHead(name), 1, Models.GPT + Models.UNTIED));
      case "gnmt" -> Optional.of(gnmt(name));
      case "vit" -> Optional.of(vit(name));
      case "cosmoflow" -> Optional.of(cosmoFlow(name));
      case "mlp" -> Optional.of(perceptron(name));
      case "cnn-64-128-256" ->
          Optional.of(Models.momentum(name, image(name), 32, Models.CONVOLUTIONS));
      case "vgg-16", "vgg-19" -> Optional.of(Models.momentum(name, image(name), 32, Models.VGG));
      case "resnet-18", "resnet-34", "resnet-50", "resnet-101", "resnet-152" ->
          Optional.of(Models.momentum(name, image(name), 32, Models.RESNET));
      default -> deepBert(name);
    };
  }

  /** The shape of a name that is a transformer's, with sizes or without. */
  static Optional<Transformers.Named> shape(String name) {
    int colon = name.indexOf(':');
    String kind = colon < 0 ? name : name.substring(0, colon);
    return switch (kind) {
      case "bert" -> named(name, TransformerShapes.bert(sizes(name, 384, 30_522)), Models.BERT);
      case "gpt" -> {
        Decoder sizes = sizes(name, 1024, 50_257);
        yield named(name, TransformerShapes.gpt(sizes, 4 * sizes.hidden()), Models.GPT);
      }
      case "gpt-untied" -> {
        Decoder sizes = sizes(name, 1024, 50_257);
        yield named(name, TransformerShapes.gptWithOwnHead(sizes, 4 * sizes.hidden()), Models.GPT);
      }
      case "vit" -> {
        int[] s = options(name, PATCHES, 12, 768, 12, 16, 224, 1000);
        InputShape.Patches patches = new InputShape.Patches(s[4], s[3], 3);
        yield named(name, TransformerShapes.vit(s[0], s[1], s[2], patches, s[5]), Models.VIT);
      }
      default -> named(name);
    };
  }

  private static Optional<Transformers.Named> named(String name) {
    return switch (name) {
      case "bert-base" -> deepBert(name, new Decoder(12, 768, 12, 512, 30_522));
      case "bert-large" -> deepBert(name, new Decoder(24, 1024, 16, 512, 30_522));
      case "gpt-2" -> gpt2(name, 12, 768, 12);
      case "gpt-2-medium" -> gpt2(name, 24, 1024, 16);
      case "gpt-2-large" -> gpt2(name, 36, 1280, 20);
      case "gpt-2-xl" -> gpt2(name, 48, 1600, 25);
      case "vit-b-16" ->
          shape("vit").map(found -> new Transformers.Named(name, found.shape(), found.source()));
      default ->
          name.startsWith("bert-") && Options.isNumber(name.substring(5))
              ? deepBert(
                  name,
                  new Decoder(
                      Options.number(name, "layers", name.substring(5)), 1024, 16, 384, 30_522))
              : Optional.empty();
    };
  }

  private static Decoder sizes(String name, int sequence, int vocabulary) {
    int[] s = options(name, LANGUAGE, 24, 1024, 16, sequence, vocabulary);
    return new Decoder(s[0], s[1], s[2], s[3], s[4]);
  }

  private static Optional<Transformers.Named> deepBert(String name, Decoder sizes) {
    return named(name, TransformerShapes.bert(sizes), Models.BERT);
  }

  private static Optional<Transformers.Named> gpt2(String name, int layers, int hidden, int heads) {
    Decoder sizes = new Decoder(layers, hidden, heads, 1024, 50_257);
    return named(name, TransformerShapes.gpt(sizes, 4 * hidden), Models.GPT);
  }

  private static Optional<Transformers.Named> named(
      String name, TransformerShape shape, String source) {
    return Optional.of(new Transformers.Named(name, shape, source));
  }

  private static Optional<ZooModel> deepBert(String name) {
    if (name.startsWith("bert-") && Options.isNumber(name.substring(5))) {
      return Optional.of(Models.bert(name, Options.number(name, "layers", name.substring(5))));
    }
    return Optional.empty();
  }

  private static int[] options(String name, String[] keys, int... defaults) {
    int colon = name.indexOf(':');
    return colon < 0 ? defaults : Options.parse(name, name.substring(colon + 1), keys, defaults);
  }

  private static ZooModel bert(String name) {
    int[] s = options(name, LANGUAGE, 24, 1024, 16, 384, 30_522);
    LayerGraph graph = Transformer.bert(s[0], s[1], s[2], s[3], s[4]).bertWithMask(name);
    return Models.adam(name, graph, 2, Models.BERT + Models.DAPPLE);
  }

  private static Transformer decoder(String name) {
    int[] s = options(name, LANGUAGE, 24, 1024, 16, 1024, 50_257);
    return Transformer.gpt(s[0], s[1], s[2], s[3], s[4]);
  }

  private static ZooModel gnmt(String name) {
    int[] s = options(name, TRANSLATION, 16, 1024, 50, 36_560);
    return Models.adam(name, Gnmt.graph(name, s[0], s[1], s[2], s[3]), 64, Models.GNMT);
  }

  private static ZooModel vit(String name) {
    int[] s = options(name, PATCHES, 12, 768, 12, 16, 224, 1000);
    VisionTransformer sized = new VisionTransformer(s[0], s[1], s[2], s[3], s[4], s[5]);
    return Models.adam(name, sized.graph(name), 32, Models.VIT);
  }

  private static ZooModel cosmoFlow(String name) {
    int[] s = options(name, CUBE, 128, 4);
    return Models.momentum(name, CosmoFlow.small(name, s[0], s[1]), 1, Models.COSMOFLOW);
  }

  private static ZooModel perceptron(String name) {
    int[] s = options(name, PERCEPTRON, 8, 1024, 1024, 10);
    LayerGraph graph = SmallNetworks.perceptron(name, s[0], s[1], s[2], s[3]);
    return Models.momentum(name, graph, 64, Models.PERCEPTRON);
  }

  /** A network over images whose name may go on with their size and the number of classes. */
  static LayerGraph image(String name) {
    String kind = name.split(":", 2)[0];
    if (kind.equals("cnn-64-128-256")) {
      int[] s = options(name, IMAGE, 32, 10);
      return SmallNetworks.convolutions(name, s[0], s[1]);
    }
    int[] s = options(name, WIDE_IMAGE, 224, 1000, 64);
    int dash = kind.indexOf('-');
    int depth = Integer.parseInt(kind.substring(dash + 1));
    return kind.startsWith("resnet")
        ? ResNet.resnet(depth, name, s[0], s[1], s[2])
        : Vgg.vgg(depth, name, s[0], s[1], s[2]);
  }
}
