package dev.pipewright.zoo;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.Optional;

/** The usual kinds of transformers, of any size. */
public final class TransformerShapes {
  private TransformerShapes() {}

  /** Sizes of a decoder: layers, states, heads, and tokens of a sample. */
  public record Decoder(int layers, int hidden, int heads, int sequence, int vocabulary) {
    private int headWidth() {
      Check.that(
          heads >= 1 && hidden % heads == 0,
          "the hidden size must be a multiple of the heads: hidden=%d, heads=%d",
          hidden,
          heads);
      return hidden / heads;
    }
  }

  /** GPT-2 and GPT-3: learned positions, layer norms, biases, a head that shares the table. */
  public static TransformerShape gpt(Decoder sizes, int width) {
    return gpt(sizes, width, new HeadPart.Scores(true, false));
  }

  /** The same with a head of its own, which has biases. */
  static TransformerShape gptWithOwnHead(Decoder sizes, int width) {
    return gpt(sizes, width, new HeadPart.Scores(false, true));
  }

  private static TransformerShape gpt(Decoder sizes, int width, HeadPart head) {
    LayerShape block =
        LayerShape.of(
            GroupedQuery.biased(sizes.heads, sizes.headWidth()),
            new Dense(width, false, true),
            NormShape.LAYER);
    return TransformerShape.of(
        sizes.hidden,
        InputShape.Words.of(sizes.vocabulary, sizes.hidden, new Positions.Learned(sizes.sequence)),
        new StackShape(
            StackShape.repeated(block, sizes.layers), true, Optional.of(NormShape.LAYER)),
        List.of(head),
        sizes.sequence);
  }

  /** BERT with its pooler: 512 positions or more, two segments, norms after the sums. */
  static TransformerShape bert(Decoder sizes) {
    LayerShape block =
        LayerShape.of(
            GroupedQuery.biased(sizes.heads, sizes.headWidth()),
            new Dense(4 * sizes.hidden, false, true),
            NormShape.LAYER);
    return TransformerShape.of(
        sizes.hidden,
        new InputShape.Words(
            sizes.vocabulary,
            sizes.hidden,
            new Positions.Learned(Math.max(512, sizes.sequence)),
            2,
            Optional.of(NormShape.LAYER)),
        new StackShape(StackShape.repeated(block, sizes.layers), false, Optional.empty()),
        List.of(new HeadPart.Pooler()),
        sizes.sequence);
  }

  /** Llama: rotary positions, RMS norms, gates, no biases. */
  public static TransformerShape llama(
      Decoder sizes, int keyValueHeads, FeedForwardShape feedForward) {
    return decoder(
        sizes, GroupedQuery.plain(sizes.heads, keyValueHeads, sizes.headWidth()), feedForward);
  }

  /** A decoder of equal blocks with RMS norms and a head of its own. */
  static TransformerShape decoder(
      Decoder sizes, GroupedQuery attention, FeedForwardShape feedForward) {
    LayerShape block = LayerShape.of(attention, feedForward, NormShape.RMS);
    return decoder(sizes, StackShape.repeated(block, sizes.layers));
  }

  /** A decoder of given blocks with rotary positions, RMS norms and a head of its own. */
  public static TransformerShape decoder(Decoder sizes, List<LayerShape> blocks) {
    return TransformerShape.of(
        sizes.hidden,
        InputShape.Words.of(sizes.vocabulary, sizes.hidden, new Positions.Rotary()),
        new StackShape(blocks, true, Optional.of(NormShape.RMS)),
        List.of(new HeadPart.Scores(false, false)),
        sizes.sequence);
  }

  /** ViT with a classifier over the token before the patches. */
  static TransformerShape vit(
      int layers, int hidden, int heads, InputShape.Patches patches, int classes) {
    Decoder sizes = new Decoder(layers, hidden, heads, patches.tokens(), 1);
    LayerShape block =
        LayerShape.of(
            GroupedQuery.biased(heads, sizes.headWidth()),
            new Dense(4 * hidden, false, true),
            NormShape.LAYER);
    return TransformerShape.of(
        hidden,
        patches,
        new StackShape(StackShape.repeated(block, layers), false, Optional.of(NormShape.LAYER)),
        List.of(new HeadPart.Classes(classes)),
        patches.tokens());
  }

  /** T5 as first published: plain feed-forward parts, all three tables shared. */
  static TransformerShape t5(int layers, int hidden, int heads, int headWidth, int width) {
    GroupedQuery attention = GroupedQuery.plain(heads, heads, headWidth);
    LayerShape block = LayerShape.of(attention, new Dense(width, false, false), NormShape.RMS);
    LayerShape crossing =
        new LayerShape(attention, block.span(), block.feedForward(), NormShape.RMS, 3, true);
    Optional<NormShape> last = Optional.of(NormShape.RMS);
    return new TransformerShape(
        hidden,
        InputShape.Words.of(32_128, hidden, new Positions.Relative(32)),
        Optional.of(new StackShape(StackShape.repeated(block, layers), false, last)),
        new StackShape(StackShape.repeated(crossing, layers), true, last),
        List.of(new HeadPart.Scores(true, false)),
        Optional.empty(),
        512);
  }
}
