package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.PartShares;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which layers are split, where the split ends, and that no work gets lost. */
class SharingTest {
  private static List<LayerShare> shares(ParadlNetwork network, Layout layout) {
    return new Sharing(network, layout).shares();
  }

  /** Each part of an axis, device by device, instead of the largest for all. */
  private static int[] partsOf(int extent, int parts) {
    int[] sizes = new int[parts];
    for (int position = 0; position < extent; position++) {
      sizes[position % parts]++;
    }
    return sizes;
  }

  @RepeatedTest(value = 100, name = SmallNet.SEEDED)
  void partsCoverALayerAndTheLargestSetsThePace(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Workload workload = SmallNet.random(random).on(SmallNet.nodes(1, 1), 1);
    ParadlNetwork network = new ParadlNetwork(workload, Optional.empty());
    int parts = random.nextInt(2, 5);
    for (Strategy strategy : List.of(Strategy.FILTER, Strategy.CHANNEL)) {
      List<LayerShare> shares = shares(network, Layout.of(strategy, 1, parts));
      for (int layer = 0; layer < network.size(); layer++) {
        Geometry l = network.layer(layer);
        PartShares part = shares.get(layer).part();
        if (!shares.get(layer).split()) {
          assertEquals(PartShares.WHOLE, part);
          continue;
        }
        boolean filters = strategy == Strategy.FILTER;
        int extent = filters ? l.filters() : l.channels();
        double share = filters ? part.filters() : part.channels();
        int[] sizes = partsOf(extent, parts);
        assertEquals(sizes[0], share * extent, 1e-9, l.name());
        assertEquals(1, part.positions() * (filters ? part.channels() : part.filters()));
        assertTrue(parts * share >= 1 - 1e-12, "work of " + l.name() + " is lost");
      }
    }
  }

  @RepeatedTest(value = 100, name = SmallNet.SEEDED)
  void aGridCoversEveryMapThatItSplits(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Workload workload = SmallNet.random(random).on(SmallNet.nodes(1, 1), 1);
    ParadlNetwork network = new ParadlNetwork(workload, Optional.empty());
    List<Integer> grid = List.of(random.nextInt(1, 5), random.nextInt(1, 5));
    Layout layout = Layout.spatial(Strategy.SPATIAL, 1, grid);
    List<LayerShare> shares = shares(network, layout);
    boolean split = false;
    for (int layer = 0; layer < network.size(); layer++) {
      Geometry l = network.layer(layer);
      LayerShare share = shares.get(layer);
      if (share.split()) {
        double height = partsOf(l.out().get(0), grid.get(0))[0];
        double width = partsOf(l.out().get(1), grid.get(1))[0];
        double positions = (double) l.out().get(0) * l.out().get(1);
        assertEquals(height * width, share.part().positions() * positions, 1e-9, l.name());
        assertTrue(l.out().get(0) >= grid.get(0) && l.out().get(1) >= grid.get(1), l.name());
        for (int from : network.graph().predecessors(layer)) {
          assertTrue(shares.get(from).split(), l.name() + " reads what is whole already");
        }
        split = true;
      } else {
        assertEquals(PartShares.WHOLE, share.part());
      }
    }
    assertTrue(split);
  }

  private static ParadlNetwork twoProducts(Optional<List<Boolean>> switches) {
    SmallNet net = SmallNet.input(3, 8, 8).convolution(6, 3, 1, 1).relu().convolution(8, 3, 1, 1);
    return new ParadlNetwork(net.on(SmallNet.nodes(1, 1), 1), switches);
  }

  private static List<Boolean> split(ParadlNetwork network, Strategy strategy) {
    return shares(network, Layout.of(strategy, 1, 2)).stream().map(LayerShare::split).toList();
  }

  @Test
  void channelsAreSplitFromTheSecondProductOn() {
    ParadlNetwork network = twoProducts(Optional.empty());
    assertEquals(List.of(false, true, false, true), split(network, Strategy.FILTER));
    assertEquals(List.of(false, false, false, true), split(network, Strategy.CHANNEL));
  }

  @Test
  void aLayerThatIsSwitchedOffIsNotSplit() {
    ParadlNetwork network = twoProducts(Optional.of(List.of(false, true, true, false)));
    assertEquals(List.of(false, true, false, false), split(network, Strategy.FILTER));
    assertEquals(List.of(false, false, false, false), split(network, Strategy.CHANNEL));
  }

  /** ParaDL §4.5 gathers behind the last convolution and its pooling; averages are over all. */
  @ParameterizedTest
  @CsvSource({
    "vgg-16, pool5, fc6, 2, 2",
    "vgg-16, pool5, fc6, 1, 4",
    "resnet-50, layer4.3.relu3, avgpool, 2, 2",
    "resnet-50, layer4.3.relu3, avgpool, 4, 1"
  })
  void theGridEndsBeforeTheFirstLayerWithoutPositions(
      String model, String last, String next, int height, int width) {
    var zoo = Models.find(model).orElseThrow();
    var kind = Clusters.v100();
    var profile = Roofline.profile(zoo.graph(), kind, zoo.training(), List.of(32));
    var chain = Chain.of(zoo.graph());
    var cluster = SmallNet.nodes(1, 1);
    ParadlNetwork network =
        new ParadlNetwork(new Workload(chain, profile, zoo.training(), cluster), Optional.empty());
    List<Integer> grid = List.of(height, width);
    List<LayerShare> shares = shares(network, Layout.spatial(Strategy.SPATIAL, 1, grid));
    int end = zoo.graph().layers().stream().map(Layer::name).toList().indexOf(next);
    List<String> gathered = new ArrayList<>();
    for (int layer = 0; layer < network.size(); layer++) {
      assertEquals(layer < end, shares.get(layer).split(), network.layer(layer).name());
      if (shares.get(layer).gathersAfter()) {
        gathered.add(network.layer(layer).name());
      }
    }
    assertEquals(List.of(last), gathered);
  }

  /** A map of 5×5 behind the pooling has no place for a sixth part. */
  @Test
  void theGridEndsWhereAMapHasTooFewPositions() {
    SmallNet net = SmallNet.input(3, 10, 10).convolution(4, 3, 1, 1).pooling(2, 2).relu();
    ParadlNetwork network = new ParadlNetwork(net.on(SmallNet.nodes(2, 1), 1), Optional.empty());
    Layout six = Layout.spatial(Strategy.SPATIAL, 1, List.of(6, 1));
    List<LayerShare> shares = shares(network, six);
    assertTrue(shares.get(1).split() && shares.get(1).gathersAfter());
    assertFalse(shares.get(2).split() || shares.get(3).split());
    Layout five = Layout.spatial(Strategy.SPATIAL, 1, List.of(5, 1));
    assertTrue(shares(network, five).stream().allMatch(LayerShare::split));
  }

  /** Seven rows read three of either neighbour: parts of two rows do not have them. */
  @Test
  void theGridEndsWhereAWindowReachesBeyondTheNeighbour() {
    SmallNet net = SmallNet.input(3, 6, 6).convolution(4, 3, 1, 1).convolution(4, 7, 1, 3);
    ParadlNetwork network = new ParadlNetwork(net.on(SmallNet.nodes(1, 1), 1), Optional.empty());
    Layout twoRows = Layout.spatial(Strategy.SPATIAL, 1, List.of(3, 1));
    List<LayerShare> shares = shares(network, twoRows);
    assertTrue(shares.get(1).gathersAfter());
    assertFalse(shares.get(2).split());
    Layout threeRows = Layout.spatial(Strategy.SPATIAL, 1, List.of(2, 1));
    assertTrue(shares(network, threeRows).stream().allMatch(LayerShare::split));
  }
}
