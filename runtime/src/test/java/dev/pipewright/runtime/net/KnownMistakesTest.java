package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Operator;
import dev.pipewright.model.Operator.Pooling;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.runtime.net.Members.Result;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What earlier implementations of split layers got wrong, each by itself. In 64 bits. */
@ExtendWith(DoublePrecision.class)
class KnownMistakesTest {
  private static final double EXACT = 1e-10; // relative

  private static Members one(List<Integer> input, Operator operator) {
    Drawing net = new Drawing(input);
    net.windows(0, operator);
    return net.members(2, false);
  }

  private static Members two(int channels) {
    Drawing net = new Drawing(List.of(3, 5, 6));
    int last = net.windows(0, Drawing.convolution(3, channels, 3, 1, 1));
    net.windows(last, Drawing.convolution(channels, 4, 3, 1, 1));
    return net.members(2, false);
  }

  @Test
  void aBiasIsAddedOnceAndNotByEveryGroupOfChannels() {
    Members net = two(6);
    List<Result> members = net.together(Parallelism.of(Kind.CHANNEL, 3));
    Tensor alone = net.alone().output();
    for (Result member : members) {
      Members.close(alone, member.output(), EXACT, "output");
      assertInstanceOf(Share.Whole.class, member.shares().get("layer2.bias"));
      Tensor bias = member.gradients().getOrDefault("layer2.bias", Tensor.zeros(1));
      Tensor once = net.alone().gradients().getOrDefault("layer2.bias", Tensor.zeros(1));
      Members.close(once, bias, EXACT, "gradient of the bias");
    }
  }

  @Test
  void filtersComeBackInTheirOrder() {
    Tensor alone = two(7).alone().output();
    for (Result member : two(7).together(Parallelism.of(Kind.FILTER, 4))) {
      for (int filter = 0; filter < 4; filter++) {
        Members.close(alone.at(1, filter), member.output().at(1, filter), EXACT, "" + filter);
      }
    }
  }

  @Test
  void theGradientOfAnInputIsTheSumOverAllBlocksOfFilters() {
    Members net = two(7);
    Tensor alone = net.alone().inputGradient();
    for (Result member : net.together(Parallelism.of(Kind.FILTER, 3))) {
      Members.close(alone, member.inputGradient(), EXACT, "gradient of the input");
    }
  }

  @Test
  void theGradientsOfRowsThatAPoolingBorrowsGoBack() {
    for (Pooling.Kind kind : Pooling.Kind.values()) {
      Drawing net = new Drawing(List.of(2, 9, 8));
      int last = net.windows(0, Drawing.convolution(2, 2, 1, 1, 0)); // whose gradient would miss
      net.windows(last, Drawing.pooling(kind, 3, 1, 1));
      net.members(2, false).same(new Parallelism(Kind.SPATIAL, List.of(3, 1)), EXACT);
      Tensor alone = net.members(2, false).alone().inputGradient();
      Tensor split =
          net.members(2, false)
              .together(new Parallelism(Kind.SPATIAL, List.of(3, 1)))
              .get(0)
              .inputGradient();
      for (int row : new int[] {2, 3, 5, 6}) { // at the cuts
        Members.close(alone.at(2, row), split.at(2, row), EXACT, kind + " row " + row);
      }
    }
  }

  @Test
  void windowsOfEvenExtentReachFurtherToOneSide() {
    for (int kernel : new int[] {2, 4}) {
      for (int padding = 0; padding <= kernel / 2; padding++) {
        for (int stride : new int[] {1, 2}) {
          Operator even = Drawing.convolution(2, 3, kernel, stride, padding);
          one(List.of(2, 10, 11), even).same(new Parallelism(Kind.SPATIAL, List.of(2, 2)), EXACT);
        }
      }
    }
  }

  @Test
  void normalisationAveragesOverAllPlacesWhereMapsAreCut() {
    Drawing net = new Drawing(List.of(3, 6, 5));
    int last = net.windows(0, Drawing.convolution(3, 4, 3, 1, 1), Drawing.norm(4));
    net.same(last, Drawing.norm(4));
    Members members = net.members(3, false);
    members.same(new Parallelism(Kind.SPATIAL, List.of(2, 2)), EXACT);
    for (Result member : members.together(new Parallelism(Kind.SPATIAL, List.of(2, 1)))) {
      assertEquals(4, member.averages().size());
      members
          .alone()
          .averages()
          .forEach((name, value) ->
              Members.close(
                  value, member.averages().getOrDefault(name, Tensor.zeros(4)), EXACT, name));
    }
  }

  @Test
  void normalisationHasWholeChannelsWhereFiltersAreSplit() {
    Drawing net = new Drawing(List.of(3, 6, 5));
    int last = net.windows(0, Drawing.convolution(3, 5, 3, 1, 1), Drawing.norm(5));
    net.windows(last, Drawing.convolution(5, 2, 1, 1, 0), Drawing.norm(2));
    for (Kind kind : List.of(Kind.FILTER, Kind.CHANNEL)) {
      net.members(3, false).same(Parallelism.of(kind, 2), EXACT);
    }
  }

  /** Behind the part whose places are cut, every member has all of a layer's gradient. */
  @Test
  void gradientsOfWholeLayersAreNotSummedOverMembers() {
    Drawing net = new Drawing(List.of(3, 6, 5));
    int last = net.windows(0, Drawing.convolution(3, 2, 3, 1, 1));
    net.linear(last, 4);
    Members members = net.members(3, false);
    Result alone = members.alone();
    for (Result member : members.together(new Parallelism(Kind.SPATIAL, List.of(3, 1)))) {
      assertInstanceOf(Share.Whole.class, member.shares().get("layer2.weight"));
      assertInstanceOf(Share.Summed.class, member.shares().get("layer1.weight"));
      Tensor whole = alone.gradients().getOrDefault("layer2.weight", Tensor.zeros(1));
      Tensor own = member.gradients().getOrDefault("layer2.weight", Tensor.zeros(1));
      Members.close(whole, own, EXACT, "gradient");
    }
    assertTrue(alone.gradients().containsKey("layer1.weight"));
  }
}
