package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.Operator;
import dev.pipewright.model.Operator.Pooling;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Layers that several workers compute together against the same layers on one, in 64 bits. */
@ExtendWith(DoublePrecision.class)
class ParallelLayersTest {
  private static final double EXACT = 1e-11; // relative
  private static final Operator SMOOTH = new Operator.Elementwise("tanh"); // which has no corners

  /** Convolutions, normalisation, a shortcut, both kinds of pooling, and a classifier. */
  private static Drawing residual() {
    Drawing net = new Drawing(List.of(3, 11, 13));
    int last = net.windows(0, Drawing.convolution(3, 7, 3, 1, 1), Drawing.norm(7), SMOOTH);
    last = net.windows(last, Drawing.pooling(Pooling.Kind.MAX, 3, 2, 1));
    int shortcut = net.windows(last, Drawing.convolution(7, 5, 1, 1, 0));
    last = net.windows(last, Drawing.convolution(7, 6, 4, 1, 2));
    last = net.same(last, Drawing.norm(6));
    last = net.same(last, SMOOTH);
    last = net.windows(last, Drawing.convolution(6, 5, 2, 1, 0));
    last = net.add(List.of(new Operator.Elementwise("add")), net.shape(last), last, shortcut);
    last = net.windows(last, Drawing.pooling(Pooling.Kind.AVERAGE, 2, 2, 1), SMOOTH);
    net.linear(last, 6);
    return net;
  }

  @Test
  void filters() {
    for (boolean inTwoParts : new boolean[] {false, true}) {
      for (int parts : new int[] {2, 3, 5}) {
        residual().members(3, inTwoParts).same(Parallelism.of(Kind.FILTER, parts), EXACT);
      }
    }
  }

  @Test
  void channels() {
    for (boolean inTwoParts : new boolean[] {false, true}) {
      for (int parts : new int[] {2, 3, 5}) {
        residual().members(3, inTwoParts).same(Parallelism.of(Kind.CHANNEL, parts), EXACT);
      }
    }
  }

  @Test
  void placesAlongOneAxisOrBoth() {
    for (boolean inTwoParts : new boolean[] {false, true}) {
      for (List<Integer> grid :
          List.of(List.of(2, 1), List.of(1, 3), List.of(2, 2), List.of(3, 2))) {
        residual().members(2, inTwoParts).same(new Parallelism(Kind.SPATIAL, grid), EXACT);
      }
    }
  }

  @Test
  void placesOfVolumes() {
    Drawing net = new Drawing(List.of(2, 7, 5, 6));
    int last = net.windows(0, Drawing.convolution(2, 4, List.of(3, 2, 3), 1, 1), SMOOTH);
    last = net.windows(last, Drawing.convolution(4, 3, List.of(2, 3, 1), 2, 1));
    net.linear(last, 4);
    for (List<Integer> grid : List.of(List.of(2, 1, 1), List.of(1, 2, 2), List.of(2, 2, 2))) {
      net.members(2, false).same(new Parallelism(Kind.SPATIAL, grid), EXACT);
    }
    for (Kind kind : List.of(Kind.FILTER, Kind.CHANNEL)) {
      net.members(2, false).same(Parallelism.of(kind, 2), EXACT);
    }
  }

  /** Any window over any map, cut in any number of parts. */
  @RepeatedTest(60)
  void anyWindow(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<Integer> in = List.of(2, random.nextInt(4, 14), random.nextInt(4, 14));
    Drawing net = new Drawing(in);
    int last = 0;
    for (int i = 0; i < 2; i++) {
      last = net.windows(last, anyWindow(random, net.shape(last)));
    }
    List<Integer> grid = List.of(random.nextInt(1, 5), random.nextInt(1, 4));
    net.members(2, random.nextBoolean()).same(new Parallelism(Kind.SPATIAL, grid), EXACT);
  }

  private static Operator anyWindow(SplittableRandom random, List<Integer> in) {
    List<Integer> kernel = new ArrayList<>();
    List<Integer> stride = new ArrayList<>();
    List<Integer> padding = new ArrayList<>();
    List<Integer> dilation = new ArrayList<>();
    boolean convolution = random.nextBoolean();
    for (int axis = 1; axis < in.size(); axis++) {
      int k = random.nextInt(1, Math.min(5, in.get(axis)) + 1);
      int d = convolution && 2 * (k - 1) < in.get(axis) ? random.nextInt(1, 3) : 1;
      kernel.add(k);
      dilation.add(d);
      stride.add(random.nextInt(1, 4));
      padding.add(random.nextInt(0, k / 2 + 1));
    }
    if (convolution) {
      return new Operator.Convolution(in.get(0), 3, kernel, stride, padding, dilation, 1, true);
    }
    Pooling.Kind kind = random.nextBoolean() ? Pooling.Kind.MAX : Pooling.Kind.AVERAGE;
    return new Pooling(kind, kernel, stride, padding);
  }

  private static Members blocks(boolean causal, boolean first, boolean inTwoParts) {
    Drawing net = new Drawing(List.of(7, 12));
    Operator block = new Operator.TransformerBlock(12, 3, 7, causal, first);
    int last = net.same(net.same(0, block), block);
    net.add(List.of(new Operator.Linear(12, 5, true)), List.of(7, 5), last);
    return net.members(2, inTwoParts);
  }

  private static Members shaped(Operator.ShapedBlock block, boolean inTwoParts) {
    Drawing net = new Drawing(List.of(7, 12));
    int last = net.same(net.same(0, block), block);
    net.add(List.of(new Operator.Linear(12, 5, true)), List.of(7, 5), last);
    return net.members(2, inTwoParts);
  }

  @Test
  void headsAndInnerFeaturesOfBlocksOfAnyShape() {
    int divided = 0;
    for (Operator.ShapedBlock block : ShapedBlocks.all(12, 7)) {
      if (ShapedBlockModule.undivided(block, Parallelism.of(Kind.SEQUENCE, 2)).isEmpty()) {
        for (Kind kind : List.of(Kind.TENSOR, Kind.SEQUENCE)) {
          shaped(block, divided++ % 3 == 0).same(Parallelism.of(kind, 2), EXACT);
        }
      }
    }
    assertEquals(10, divided);
  }

  /** Seven tokens: three, or two, and four, or two and three. */
  @Test
  void tokensOfBlocks() {
    int block = 0;
    for (Operator.ShapedBlock shaped : ShapedBlocks.all(12, 7)) {
      Members members = shaped(shaped, block++ % 2 == 0);
      members.same(Parallelism.of(Kind.CONTEXT, 2), EXACT);
      members.same(Parallelism.of(Kind.CONTEXT, 3), EXACT);
    }
    for (boolean causal : new boolean[] {false, true}) {
      for (boolean first : new boolean[] {false, true}) {
        blocks(causal, first, causal == first).same(Parallelism.of(Kind.CONTEXT, 2), EXACT);
        blocks(causal, first, causal != first).same(Parallelism.of(Kind.CONTEXT, 3), EXACT);
      }
    }
  }

  /** Also with experts that no token of a member, or none at all, chooses. */
  @Test
  void tokensAndExperts() {
    int block = 0;
    for (Operator.ShapedBlock shaped : ShapedBlocks.all(12, 7)) {
      if (shaped.shape().feedForward() instanceof Mixture mixture) {
        Members members = shaped(shaped, block++ % 2 == 0);
        members.same(Parallelism.of(Kind.EXPERT, 2), EXACT);
        members.same(Parallelism.of(Kind.EXPERT, mixture.experts()), EXACT);
        members.same(Parallelism.ofWholeSequences(2), EXACT);
        members.same(Parallelism.ofExpertCopies(1, 2), EXACT);
      }
    }
    assertEquals(3, block);
    Mixture one = new Mixture(6, 1, ShapedBlocks.GATED, false, Optional.empty(), false);
    Operator.ShapedBlock many =
        ShapedBlocks.block(12, 7, GroupedQuery.plain(4, 2, 2), one, NormShape.RMS, 2, true);
    shaped(many, false).same(Parallelism.of(Kind.EXPERT, 5), EXACT);
    shaped(many, true).same(Parallelism.of(Kind.EXPERT, 6), EXACT);
  }

  @Test
  void headsAndInnerFeaturesOfBlocks() {
    for (Kind kind : List.of(Kind.TENSOR, Kind.SEQUENCE)) {
      for (boolean causal : new boolean[] {false, true}) {
        for (boolean first : new boolean[] {false, true}) {
          blocks(causal, first, causal == first).same(Parallelism.of(kind, 2), EXACT);
          blocks(causal, first, causal != first).same(Parallelism.of(kind, 3), EXACT);
        }
      }
    }
  }
}
