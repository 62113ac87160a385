package dev.pipewright.zoo;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.Latent;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.zoo.TransformerShapes.Decoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Transformers by name, as shapes.
 *
 * <table>
 * <caption>Sources</caption>
 * <tr><td>gpt3-175b, megatron-22b, turing-530b, megatron-1t</td><td>V. Korthikanti et al., MLSys 2023, Table 3: vocabulary 51,200, sequence 2,048; the 175 B also T. Brown et al., NeurIPS 2020, Table 2.1</td></tr>
 * <tr><td>llama2-7b, -13b, -70b</td><td>H. Touvron et al., arXiv:2307.09288, §2.2, and the released configurations</td></tr>
 * <tr><td>llama3-8b, -70b, -405b (3.1: the same sizes)</td><td>A. Dubey et al., arXiv:2407.21783, Table 3</td></tr>
 * <tr><td>mixtral-8x7b</td><td>A. Jiang et al., arXiv:2401.04088, Table 1</td></tr>
 * <tr><td>qwen3-0.6b to -32b, -30b-a3b, -235b-a22b</td><td>A. Yang et al., arXiv:2505.09388, Tables 1 and 2, and the released configurations</td></tr>
 * <tr><td>deepseek-v2, -v2-lite</td><td>DeepSeek-AI, arXiv:2405.04434, §3.1.2 and appendix B</td></tr>
 * <tr><td>deepseek-v3</td><td>DeepSeek-AI, arXiv:2412.19437, §4.2</td></tr>
 * <tr><td>gpt-oss-20b, -120b</td><td>OpenAI, arXiv:2508.10925, §2, and the released configurations</td></tr>
 * <tr><td>t5-base, -large, -3b, -11b</td><td>C. Raffel et al., JMLR 2020, §3.7</td></tr>
 * <tr><td>vit-l-16, vit-h-14</td><td>A. Dosovitskiy et al., ICLR 2021, Table 1; 224 × 224 images, 1,000 classes</td></tr>
 * <tr><td>bert-base, bert-large, gpt-2…, vit-b-16</td><td>as {@link Models} builds them</td></tr>
 * </table>
 */
public final class Transformers {
  private static final String LLAMA2 = "Llama 2, Touvron et al. 2023";
  static final String LLAMA3 = "Llama 3, Dubey et al. 2024";
  private static final String MEGATRON = "Megatron, Korthikanti et al., MLSys 2023, Table 3";
  private static final String QWEN3 = "Qwen3, Yang et al. 2025";
  private static final String DEEPSEEK_V2 = "DeepSeek-V2, DeepSeek-AI 2024";
  private static final String GPT_OSS = "GPT-OSS, OpenAI 2025";
  private static final String T5 = "T5, Raffel et al., JMLR 2020";
  static final String MIXTRAL = "Mixtral, Jiang et al. 2024";

  /** A transformer, and the publication that its sizes come from. */
  public record Named(String name, TransformerShape shape, String source) {
    /** The shape with the sequences it is trained on: those of the name, or the usual ones. */
    public TransformerShape trained() {
      return name.contains("sequence=") ? shape : shape.withSequence(shape.usualSequence());
    }
  }

  private Transformers() {}

  /** Those whose shapes alone are known here; {@link Models#names} has others. */
  public static List<String> names() {
    return List.of(
        "gpt3-175b",
        "megatron-22b",
        "turing-530b",
        "megatron-1t",
        "llama2-7b",
        "llama2-13b",
        "llama2-70b",
        "llama3-8b",
        "llama3-70b",
        "llama3-405b",
        "mixtral-8x7b",
        "qwen3-0.6b",
        "qwen3-1.7b",
        "qwen3-4b",
        "qwen3-8b",
        "qwen3-14b",
        "qwen3-32b",
        "qwen3-30b-a3b",
        "qwen3-235b-a22b",
        "deepseek-v2-lite",
        "deepseek-v2",
        "deepseek-v3",
        "gpt-oss-20b",
        "gpt-oss-120b",
        "t5-base",
        "t5-large",
        "t5-3b",
        "t5-11b",
        "vit-l-16",
        "vit-h-14");
  }

  /**
   * The shape of a network, also of one in {@link Models} that is a transformer.
   *
   * @throws IllegalArgumentException when a form fits but a parameter makes no sense
   */
  public static Optional<Named> find(String name) {
    return Optional.ofNullable(
            switch (name.replaceFirst("^llama3\\.1-", "llama3-")) {
              case "gpt3-175b" -> megatron(name, 96, 12_288, 96);
              case "megatron-22b" -> megatron(name, 48, 6144, 64);
              case "turing-530b" -> megatron(name, 105, 20_480, 128);
              case "megatron-1t" -> megatron(name, 128, 25_600, 160);
              case "llama2-7b" -> llama2(name, 32, 4096, 32, 32, 11_008);
              case "llama2-13b" -> llama2(name, 40, 5120, 40, 40, 13_824);
              case "llama2-70b" -> llama2(name, 80, 8192, 64, 8, 28_672);
              case "llama3-8b" -> llama3(name, 32, 4096, 32, 14_336);
              case "llama3-70b" -> llama3(name, 80, 8192, 64, 28_672);
              case "llama3-405b" -> llama3(name, 126, 16_384, 128, 53_248);
              case "mixtral-8x7b" -> mixtral(name);
              case "qwen3-0.6b" -> tied(qwen3(name, 28, 1024, 16, 8, gated(3072)));
              case "qwen3-1.7b" -> tied(qwen3(name, 28, 2048, 16, 8, gated(6144)));
              case "qwen3-4b" -> tied(qwen3(name, 36, 2560, 32, 8, gated(9728)));
              case "qwen3-8b" -> qwen3(name, 36, 4096, 32, 8, gated(12_288));
              case "qwen3-14b" -> qwen3(name, 40, 5120, 40, 8, gated(17_408));
              case "qwen3-32b" -> qwen3(name, 64, 5120, 64, 8, gated(25_600));
              case "qwen3-30b-a3b" -> qwen3(name, 48, 2048, 32, 4, experts(128, 8, 768));
              case "qwen3-235b-a22b" -> qwen3(name, 94, 4096, 64, 4, experts(128, 8, 1536));
              case "deepseek-v2-lite" -> deepSeekV2Lite(name);
              case "deepseek-v2" -> deepSeekV2(name);
              case "deepseek-v3" -> deepSeekV3(name);
              case "gpt-oss-20b" -> gptOss(name, 24, 32);
              case "gpt-oss-120b" -> gptOss(name, 36, 128);
              case "t5-base" -> t5(name, 12, 768, 12, 64, 3072);
              case "t5-large" -> t5(name, 24, 1024, 16, 64, 4096);
              case "t5-3b" -> t5(name, 24, 1024, 32, 128, 16_384);
              case "t5-11b" -> t5(name, 24, 1024, 128, 128, 65_536);
              case "vit-l-16" -> vit(name, 24, 1024, 16, 16);
              case "vit-h-14" -> vit(name, 32, 1280, 16, 14);
              default -> null;
            })
        .or(() -> SizedDecoders.find(name))
        .or(() -> SizedModels.shape(name));
  }

  private static Named megatron(String name, int layers, int hidden, int heads) {
    Decoder sizes = new Decoder(layers, hidden, heads, 2048, 51_200);
    return new Named(name, TransformerShapes.gpt(sizes, 4 * hidden), MEGATRON);
  }

  private static Named llama2(
      String name, int layers, int hidden, int heads, int keyValueHeads, int width) {
    Decoder sizes = new Decoder(layers, hidden, heads, 4096, 32_000);
    Dense dense = new Dense(width, true, false);
    return new Named(name, TransformerShapes.llama(sizes, keyValueHeads, dense), LLAMA2);
  }

  private static Named llama3(String name, int layers, int hidden, int heads, int width) {
    Decoder sizes = new Decoder(layers, hidden, heads, 8192, 128_256);
    Dense dense = new Dense(width, true, false);
    return new Named(name, TransformerShapes.llama(sizes, 8, dense), LLAMA3);
  }

  private static Named mixtral(String name) {
    Decoder sizes = new Decoder(32, 4096, 32, 32_768, 32_000);
    return new Named(name, TransformerShapes.llama(sizes, 8, experts(8, 2, 14_336)), MIXTRAL);
  }

  static Mixture experts(int experts, int chosen, int width) {
    return new Mixture(
        experts, chosen, new Dense(width, true, false), false, Optional.empty(), false);
  }

  /** Heads of 128 features, whose queries and keys are normalised. */
  private static Named qwen3(
      String name,
      int layers,
      int hidden,
      int heads,
      int keyValueHeads,
      FeedForwardShape feedForward) {
    Decoder sizes = new Decoder(layers, hidden, heads, 40_960, 151_936);
    GroupedQuery attention =
        new GroupedQuery(heads, keyValueHeads, 128, false, false, QueryKeyNorm.HEAD, false);
    return new Named(name, TransformerShapes.decoder(sizes, attention, feedForward), QWEN3);
  }

  private static Dense gated(int width) {
    return new Dense(width, true, false);
  }

  /** With one table of words for embedding and head. */
  private static Named tied(Named own) {
    TransformerShape shape = own.shape;
    TransformerShape shared =
        TransformerShape.of(
            shape.hidden(),
            shape.input(),
            shape.stack(),
            List.of(new HeadPart.Scores(true, false)),
            shape.sequence());
    return new Named(own.name, shared, own.source);
  }

  private static Named deepSeekV2Lite(String name) {
    Decoder sizes = new Decoder(27, 2048, 16, 32_768, 102_400);
    Mixture mixture = new Mixture(64, 6, gated(1408), false, Optional.of(gated(2 * 1408)), false);
    Latent attention = new Latent(16, OptionalInt.empty(), 512, 128, 64, 128, false, true);
    List<LayerShape> blocks = denseFirst(sizes, attention, 1, gated(10_944), mixture);
    return new Named(name, TransformerShapes.decoder(sizes, blocks), DEEPSEEK_V2);
  }

  private static Named deepSeekV2(String name) {
    Decoder sizes = new Decoder(60, 5120, 128, 4096, 102_400);
    Mixture mixture = new Mixture(160, 6, gated(1536), false, Optional.of(gated(2 * 1536)), false);
    Latent attention = new Latent(128, OptionalInt.of(1536), 512, 128, 64, 128, false, true);
    List<LayerShape> blocks = denseFirst(sizes, attention, 1, gated(12_288), mixture);
    return new Named(name, TransformerShapes.decoder(sizes, blocks), DEEPSEEK_V2);
  }

  private static Named deepSeekV3(String name) {
    Decoder sizes = new Decoder(61, 7168, 128, 4096, 129_280);
    Latent attention = new Latent(128, OptionalInt.of(1536), 512, 128, 64, 128, false, true);
    Mixture mixture = new Mixture(256, 8, gated(2048), true, Optional.of(gated(2048)), false);
    List<LayerShape> blocks = denseFirst(sizes, attention, 3, gated(18_432), mixture);
    TransformerShape plain = TransformerShapes.decoder(sizes, blocks);
    TransformerShape shape =
        new TransformerShape(
            plain.hidden(),
            plain.input(),
            plain.encoder(),
            plain.stack(),
            plain.head(),
            Optional.of(new TokenPrediction(1, blocks.get(60))),
            plain.sequence());
    return new Named(name, shape, "DeepSeek-V3, DeepSeek-AI 2024");
  }

  private static List<LayerShape> denseFirst(
      Decoder sizes, Latent attention, int first, Dense dense, Mixture mixture) {
    List<LayerShape> blocks = new ArrayList<>();
    for (int layer = 0; layer < sizes.layers(); layer++) {
      blocks.add(LayerShape.of(attention, layer < first ? dense : mixture, NormShape.RMS));
    }
    return blocks;
  }

  /** Every second layer, the first included, reads 128 tokens. */
  private static Named gptOss(String name, int layers, int experts) {
    GroupedQuery attention = new GroupedQuery(64, 8, 64, true, true, QueryKeyNorm.NONE, true);
    Mixture mixture =
        new Mixture(experts, 4, new Dense(2880, true, true), true, Optional.empty(), false);
    List<LayerShape> blocks = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      LayerShape block = LayerShape.of(attention, mixture, NormShape.RMS);
      blocks.add(layer % 2 == 0 ? block.reading(new AttentionSpan.Window(128)) : block);
    }
    Decoder sizes = new Decoder(layers, 2880, 64, 131_072, 201_088);
    return new Named(name, TransformerShapes.decoder(sizes, blocks), GPT_OSS);
  }

  private static Named t5(
      String name, int layers, int hidden, int heads, int headWidth, int width) {
    return new Named(name, TransformerShapes.t5(layers, hidden, heads, headWidth, width), T5);
  }

  private static Named vit(String name, int layers, int hidden, int heads, int patch) {
    InputShape.Patches patches = new InputShape.Patches(224, patch, 3);
    return new Named(name, TransformerShapes.vit(layers, hidden, heads, patches, 1000), Models.VIT);
  }
}
