package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Work;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a device of a tensor-parallel group has of the zoo's networks, and what it exchanges. */
class TensorParallelTest {
  private static final Cluster NODE = Clusters.find("dapple-a:1x4").orElseThrow();

  private static Workload workload(String name) {
    ZooModel model = Models.find(name).orElseThrow();
    Profile profile = Roofline.profile(model.graph(), NODE, model.training(), List.of(1));
    return new Workload(Chain.of(model.graph()), profile, model.training(), NODE);
  }

  private static int layer(LayerGraph graph, String name) {
    return Objects.requireNonNull(graph.index().get(name));
  }

  private static Profile part(Workload workload, int degree) {
    Parallelism split = new ParallelismLimits(workload.chain().graph()).tensorParallel(degree);
    return ShardedProfile.of(workload, split, false).profile();
  }

  private static List<GroupExchange> exchanges(String model, String layer) {
    Chain chain = Chain.of(Models.find(model).orElseThrow().graph());
    LayerRange all = new LayerRange(0, chain.size() - 1);
    Parallelism split = new ParallelismLimits(chain.graph()).tensorParallel(4);
    int wanted = layer(chain.graph(), layer);
    return GroupExchanges.of(chain, all, split, false).stream()
        .filter(each -> each.layer() == wanted)
        .toList();
  }

  private static long sums(List<GroupExchange> exchanges, boolean forward, long elements) {
    return exchanges.stream()
        .filter(each -> each.kind() == GroupExchange.Kind.SUM)
        .filter(each -> each.forward() == forward && each.elements() == elements)
        .count();
  }

  /** A decoder's block after an encoder has a second attention: another pair of products. */
  @Test
  void crossAttentionIsDividedAndSummedLikeAnother() {
    long states = 512L * 768;
    assertEquals(2, sums(exchanges("t5-base", "encoder-3"), true, states));
    assertEquals(3, sums(exchanges("t5-base", "decoder-3"), true, states));
    assertEquals(3, sums(exchanges("t5-base", "decoder-3"), false, states));
    Workload workload = workload("t5-base");
    int block = layer(workload.chain().graph(), "decoder-3");
    double element = workload.profile().precision().bytes();
    double norms = 3 * 768;
    double products = workload.profile().sizes(block).parameters() / element - norms;
    double own = part(workload, 4).sizes(block).parameters() / element;
    assertEquals(norms + products / 4, own, 1e-6 * own);
  }

  /** Korthikanti et al., table 2: sbh(10 + 24/t + 5as/ht) bytes at two bytes per element. */
  @Test
  void aBlockKeepsWhatIsPublishedForTensorParallelism() {
    double s = 1024;
    double h = 1024;
    double a = 16;
    Workload workload = workload("gpt-2-medium");
    int block = layer(workload.chain().graph(), "block-7");
    double element = workload.profile().precision().bytes();
    for (int t : new int[] {1, 2, 4, 8}) {
      double published = s * h * (10 + 24.0 / t + 5 * a * s / (h * t)) / 2;
      assertEquals(published, part(workload, t).sizes(block).kept() / element, 1);
    }
  }

  /** The products' weights and the biases of outputs that are divided: all but 6h of 12h² + 13h. */
  @Test
  void aBlockHasItsShareOfTheProducts() {
    Workload workload = workload("gpt-2-medium");
    int block = layer(workload.chain().graph(), "block-7");
    double h = 1024;
    double element = workload.profile().precision().bytes();
    double expected = (12 * h * h + 7 * h) / 4 + 6 * h;
    assertEquals(expected, part(workload, 4).sizes(block).parameters() / element, 1);
  }

  @Test
  void aBlockSumsItsStatesTwiceInEachPass() {
    List<GroupExchange> block = exchanges("gpt-2-medium", "block-7");
    assertEquals(4, block.size());
    assertEquals(2, sums(block, true, 1024 * 1024));
    assertEquals(2, sums(block, false, 1024 * 1024));
  }

  /** The mask that travels along is no state: 384 × 1024. */
  @Test
  void aBlockWithAMaskSumsItsStatesAlone() {
    List<GroupExchange> block = exchanges("bert-48", "block-3");
    assertEquals(4, block.size());
    assertEquals(2, sums(block, true, 384 * 1024));
    assertEquals(2, sums(block, false, 384 * 1024));
  }

  /** Each device looks up the tokens of its words; the positions are whole. */
  @Test
  void anEmbeddingHasItsShareOfTheTableAndSumsItsStates() {
    String model = "gpt-untied:layers=2,hidden=64,heads=4,sequence=16,vocabulary=1000";
    Workload workload = workload(model);
    int table = layer(workload.chain().graph(), "embedding");
    Profile part = part(workload, 4);
    double element = workload.profile().precision().bytes();
    assertEquals(250 * 64 + 16 * 64, part.sizes(table).parameters() / element, 1e-6);
    assertEquals(workload.profile().sizes(table).kept(), part.sizes(table).kept());
    LayerTimes whole = workload.profile().times(0).get(table);
    LayerTimes own = part.times(0).get(table);
    assertTrue(own.backward() < whole.backward(), "the gradient of the table is divided");
    List<GroupExchange> exchanges = exchanges(model, "embedding");
    assertEquals(1, exchanges.size());
    assertEquals(1, sums(exchanges, true, 16 * 64));
  }

  /** Scores stay divided; of each row four numbers of every device make the loss. */
  @Test
  void aHeadHasItsShareOfTheScoresAndSumsTheGradientOfItsStates() {
    String model = "gpt-untied:layers=2,hidden=64,heads=4,sequence=16,vocabulary=1000";
    Workload workload = workload(model);
    int head = layer(workload.chain().graph(), "head");
    Profile part = part(workload, 4);
    double element = workload.profile().precision().bytes();
    assertEquals(250 * 65 + 2 * 64, part.sizes(head).parameters() / element, 1e-6);
    assertEquals(2 * 16 * 64 + 16 * 250, part.sizes(head).kept() / element, 1e-6);
    assertEquals(16 * 250, part.sizes(head).output() / element, 1e-6);
    double whole = workload.profile().times(0).get(head).forward();
    assertTrue(part.times(0).get(head).forward() < whole);
    List<GroupExchange> exchanges = exchanges(model, "head");
    assertEquals(2, exchanges.size());
    assertEquals(1, sums(exchanges, false, 16 * 64));
    GroupExchange loss = exchanges.get(1);
    assertEquals(GroupExchange.Kind.GATHER, loss.kind());
    assertEquals(4 * 16, loss.handed().elements(0, 1));
    assertEquals(4 * 4 * 16, loss.elements());
  }

  /** Its heads are not known: it is divided by features, all of its numbers alike. */
  @Test
  void aBlockOfWhichOnlySizesAreKnownIsDividedAlike() {
    Workload workload = workload("xlnet-36");
    LayerGraph graph = workload.chain().graph();
    String name =
        graph.layers().stream()
            .filter(layer -> layer.operator() instanceof Operator.Block)
            .findFirst()
            .orElseThrow()
            .name();
    int block = layer(graph, name);
    double whole = workload.profile().sizes(block).parameters();
    assertEquals(whole / 4, part(workload, 4).sizes(block).parameters(), whole * 1e-6);
    List<GroupExchange> exchanges = exchanges("xlnet-36", name);
    assertEquals(2, exchanges.stream().filter(GroupExchange::forward).count());
    assertEquals(4, exchanges.size());
  }

  @Test
  void aConvolutionGathersItsOutputAndSumsItsInputsGradient() {
    List<GroupExchange> exchanges = exchanges("vgg-19", "conv2_1");
    assertEquals(2, exchanges.size());
    GroupExchange gathered = exchanges.get(0);
    assertEquals(GroupExchange.Kind.GATHER, gathered.kind());
    assertTrue(gathered.forward());
    assertEquals(128L * 112 * 112, gathered.elements());
    assertEquals(1, sums(exchanges, false, 64L * 112 * 112));
    Workload workload = workload("vgg-19");
    int convolution = layer(workload.chain().graph(), "conv2_1");
    Profile whole = workload.profile();
    Profile part = part(workload, 4);
    assertEquals(whole.sizes(convolution).kept(), part.sizes(convolution).kept());
    double parameters = whole.sizes(convolution).parameters();
    assertEquals(parameters / 4, part.sizes(convolution).parameters(), 1e-6);
    assertEquals(43.0 / 128 * parameters, part(workload, 3).sizes(convolution).parameters(), 1e-6);
  }

  @Test
  void theGradientOfTheNetworksInputIsNotSummed() {
    assertTrue(exchanges("vgg-19", "conv1_1").stream().allMatch(GroupExchange::forward));
  }

  @Test
  void aLayerWithoutProductsIsNotDivided() {
    Workload workload = workload("resnet-50");
    int normalization = layer(workload.chain().graph(), "bn1");
    assertEquals(workload.profile().sizes(normalization), part(workload, 4).sizes(normalization));
    assertTrue(exchanges("resnet-50", "bn1").isEmpty());
  }

  @Test
  void aNetworkOfWhichNothingIsKnownCannotBeDivided() {
    Operator recorded = new Operator.Recorded("Linear(4, 4)");
    Layer layer = new Layer("a", recorded, Optional.empty(), 16, 4, 4, Work.NONE);
    ParallelismLimits limits = new ParallelismLimits(LayerGraph.chain("file", List.of(layer)));
    Parallelism split = limits.tensorParallel(2);
    assertEquals(Kind.FILTER, split.kind());
    assertTrue(limits.refusal(split).isPresent());
  }
}
