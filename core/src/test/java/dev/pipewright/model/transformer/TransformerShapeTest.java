package dev.pipewright.model.transformer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.Latent;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.InputShape.Positions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class TransformerShapeTest {
  private static final GroupedQuery ATTENTION = GroupedQuery.plain(4, 2, 8);
  private static final Dense DENSE = new Dense(64, true, false);

  private static TransformerShape shape(int hidden, LayerShape... blocks) {
    return TransformerShape.of(
        hidden,
        InputShape.Words.of(100, hidden, new Positions.Rotary()),
        new StackShape(List.of(blocks), true, Optional.of(NormShape.RMS)),
        List.of(new HeadPart.Scores(false, false)),
        64);
  }

  /** Each tensor of a small network, one after the other. */
  @Test
  void parametersAreTheSumOfAllTensors() {
    TransformerShape shape = shape(32, LayerShape.of(ATTENTION, DENSE, NormShape.RMS));
    long attention = 32 * 32 + 2 * 32 * 16 + 32 * 32;
    long perceptron = 3 * 32 * 64;
    assertEquals(2 * 100 * 32 + 32 + attention + perceptron + 2 * 32, shape.parameters());
    assertEquals(100 * 32, shape.inputParameters());
    assertEquals(100 * 32, shape.headParameters());
  }

  @Test
  void expertsCountOnlyWhereTheyAreChosen() {
    Mixture mixture = new Mixture(8, 2, DENSE, true, Optional.of(DENSE), true);
    TransformerShape shape = shape(32, LayerShape.of(ATTENTION, mixture, NormShape.RMS));
    assertEquals(6 * DENSE.parameters(32), shape.parameters() - shape.activeParameters());
    TransformerShape plain = shape(32, LayerShape.of(ATTENTION, DENSE, NormShape.RMS));
    long router = 8 * 32 + 8 + 32; // a bias for each expert, a gate of the shared one
    assertEquals(8 * DENSE.parameters(32) + router, shape.parameters() - plain.parameters());
  }

  @Test
  void latentAttentionWithoutAQueryRankMultipliesTheStates() {
    Latent short_ = new Latent(2, OptionalInt.of(16), 12, 8, 4, 6, false, true);
    Latent direct = new Latent(2, OptionalInt.empty(), 12, 8, 4, 6, false, true);
    assertEquals(32 * 24, direct.weights(32) - rest());
    assertEquals(16 * (32 + 24), short_.weights(32) - rest());
    assertEquals(direct.weights(32) + 12, direct.parameters(32));
    assertEquals(short_.weights(32) + 12 + 16, short_.parameters(32));
    assertEquals(2 * (8 + 4 + 6), direct.scoreWidth());
  }

  private static long rest() {
    return 32 * (12 + 4) + 12 * 2 * (8 + 6) + 32 * 2 * 6;
  }

  /** Keys of each query, counted one by one. */
  @RepeatedTest(50)
  void spansCountTheKeysThatTheMaskKeeps(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int sequence = random.nextInt(1, 40);
    int tokens = random.nextInt(1, 50);
    boolean causal = random.nextBoolean();
    AttentionSpan[] spans = {
      new AttentionSpan.Full(), new AttentionSpan.Window(tokens), new AttentionSpan.Chunk(tokens)
    };
    long[] pairs = new long[3];
    for (int query = 0; query < sequence; query++) {
      for (int key = 0; key < sequence; key++) {
        boolean seen = !causal || key <= query;
        pairs[0] += seen ? 1 : 0;
        pairs[1] += seen && Math.abs(query - key) < tokens ? 1 : 0;
        pairs[2] += seen && query / tokens == key / tokens ? 1 : 0;
      }
    }
    for (int i = 0; i < 3; i++) {
      assertEquals(
          (double) pairs[i] / sequence, spans[i].keys(sequence, causal), 1e-9, "" + spans[i]);
    }
  }

  @Test
  void arithmeticCountsProductsAndKeptScores() {
    TransformerShape shape = shape(32, LayerShape.of(ATTENTION, DENSE, NormShape.RMS));
    double products = ATTENTION.weights(32) + DENSE.weights(32) + 100 * 32;
    double forward = 2 * products + 2 * 64 * (10 + 1) / 2.0;
    assertEquals(forward, shape.forwardFlopsPerToken(10), 1e-9);
    assertEquals(3 * forward, shape.flopsPerToken(10), 1e-9);
  }

  @Test
  void crossAttentionReadsAllOfTheEncoder() {
    LayerShape own = LayerShape.of(ATTENTION, DENSE, NormShape.RMS);
    LayerShape crossing = new LayerShape(ATTENTION, own.span(), DENSE, NormShape.RMS, 3, true);
    double more = crossing.flopsPerToken(32, 10, true) - own.flopsPerToken(32, 10, true);
    assertEquals(2.0 * ATTENTION.weights(32) + 2 * 64 * 10, more, 1e-9);
    assertEquals(ATTENTION.parameters(32) + 32, crossing.parameters(32) - own.parameters(32));
  }

  @Test
  void normsOfQueriesAndKeys() {
    long plain = ATTENTION.parameters(32);
    for (QueryKeyNorm norm : QueryKeyNorm.values()) {
      GroupedQuery normed = new GroupedQuery(4, 2, 8, false, false, norm, false);
      long more =
          switch (norm) {
            case NONE, PLAIN -> 0;
            case HEAD -> 2 * 8;
            case ALL_HEADS -> 32 + 16;
            case LAYER_HEAD -> 4 * 8;
          };
      assertEquals(more, normed.parameters(32) - plain, "" + norm);
    }
    GroupedQuery all = new GroupedQuery(4, 2, 8, true, true, QueryKeyNorm.NONE, true);
    assertEquals(32 + 2 * 16 + 32 + 4, all.parameters(32) - plain);
  }

  @Test
  void equalNeighboursFormRuns() {
    LayerShape one = LayerShape.of(ATTENTION, DENSE, NormShape.RMS);
    LayerShape other = one.reading(new AttentionSpan.Window(4));
    List<LayerShape> blocks = new ArrayList<>(List.of(one, one, other, one));
    StackShape stack = new StackShape(blocks, true, Optional.empty());
    blocks.clear();
    assertEquals(
        List.of(
            new StackShape.Run(one, 2), new StackShape.Run(other, 1), new StackShape.Run(one, 1)),
        stack.runs());
  }

  @Test
  void predictionIsCountedApart() {
    LayerShape block = LayerShape.of(ATTENTION, DENSE, NormShape.RMS);
    TransformerShape plain = shape(32, block);
    TransformerShape deep =
        new TransformerShape(
            32,
            plain.input(),
            Optional.empty(),
            plain.stack(),
            plain.head(),
            Optional.of(new TokenPrediction(2, block)),
            64);
    assertEquals(plain.parameters(), deep.parameters());
    assertEquals(2 * (2 * 32 * 32 + 3 * 32 + block.parameters(32)), deep.predictionParameters());
  }

  private static void refused(String words, Executable made) {
    String message = assertThrows(IllegalArgumentException.class, made).getMessage();
    assertTrue(String.valueOf(message).contains(words), message);
  }

  @Test
  void whatCannotBeIsRefused() {
    refused("heads=4 is no multiple of key_value_heads=3", () -> GroupedQuery.plain(4, 3, 8));
    refused("heads=0 is out of range", () -> GroupedQuery.plain(0, 1, 8));
    refused("experts_per_token=9", () -> new Mixture(8, 9, DENSE, false, Optional.empty(), false));
    refused("layers=0", () -> new StackShape(List.of(), true, Optional.empty()));
    LayerShape block = LayerShape.of(ATTENTION, DENSE, NormShape.RMS);
    refused("layers=99999", () -> StackShape.repeated(block, 99_999));
    refused("image_size=30", () -> new InputShape.Patches(30, 16, 3));
    LayerShape crossing =
        new LayerShape(ATTENTION, new AttentionSpan.Full(), DENSE, NormShape.RMS, 3, true);
    refused("cross-attention and an encoder need each other", () -> shape(32, crossing));
    int most = 1 << 24;
    Mixture huge =
        new Mixture(most, 1, new Dense(most, true, false), false, Optional.empty(), false);
    refused(
        "more than 9e18 parameters",
        () -> shape(most, LayerShape.of(ATTENTION, huge, NormShape.RMS)));
  }
}
