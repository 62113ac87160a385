package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a device that has some of the tokens, or experts, computes, keeps and exchanges. */
class ContextParallelTest {
  private static final String MODEL =
      "llama:layers=1,hidden=512,heads=8,kv-heads=2,ffn=1024,sequence=32768,vocabulary=1000";
  private static final int TOKENS = 32_768;
  private static final int KEYS_AND_VALUES = 2 * 2 * 64;

  private static Workload workload(String name) {
    ZooModel model = Models.find(name).orElseThrow();
    Cluster node = Clusters.find("dapple-a:1x4").orElseThrow();
    Profile profile = Roofline.profile(model.graph(), node, model.training(), List.of(1));
    return new Workload(Chain.of(model.graph()), profile, model.training(), node);
  }

  private static int layer(Workload workload, String name) {
    LayerGraph graph = workload.chain().graph();
    return Objects.requireNonNull(graph.index().get(name));
  }

  private static Profile part(Workload workload, int parts) {
    return part(workload, Kind.CONTEXT, parts);
  }

  private static Profile part(Workload workload, Kind kind, int parts) {
    return ShardedProfile.of(workload, Parallelism.of(kind, parts), false).profile();
  }

  @Test
  void parametersAreWholeAndTheRestIsDividedByTokens() {
    Workload workload = workload(MODEL);
    Profile all = workload.profile();
    Profile part = part(workload, 4);
    for (int layer = 0; layer < all.layers(); layer++) {
      assertEquals(all.sizes(layer).parameters(), part.sizes(layer).parameters());
    }
    int block = layer(workload, "block-1");
    double kept = all.sizes(block).kept() / 4; // others' keys are gathered again
    assertEquals(kept, part.sizes(block).kept(), 1e-6 * kept);
    int head = layer(workload, "head");
    assertEquals(all.sizes(head).kept() / 4, part.sizes(head).kept(), 1);
    assertEquals(all.sizes(head).output() / 4, part.sizes(head).output(), 1);
    assertEquals(all.sizes(block).output(), part.sizes(block).output()); // whole between stages
  }

  /**
   * Causal: of the pairs of tokens the last of four has 7 / 16, where each has one run of them; in
   * frameworks, whose layers are described, each has an early and a late one.
   */
  @Test
  void theLastTokensAttendToMost() {
    Workload workload = workload(MODEL);
    int block = layer(workload, "block-1");
    LayerTimes all = workload.profile().times(0).get(block);
    LayerTimes own = part(measured(workload), 4).times(0).get(block);
    assertTrue(own.forward() > 1.1 * all.forward() / 4, own.toString());
    assertTrue(own.forward() < all.forward() * 7 / 16, own.toString());
    LayerTimes even = part(workload, 4).times(0).get(block);
    assertEquals(all.forward() / 4, even.forward(), 0.01 * all.forward());
    Workload bert = workload("bert:layers=1,hidden=512,heads=8,sequence=32768,vocabulary=1000");
    int both = layer(bert, "block-1");
    LayerTimes whole = bert.profile().times(0).get(both);
    LayerTimes quarter = part(bert, 4).times(0).get(both);
    assertEquals(whole.forward() / 4, quarter.forward(), 0.01 * whole.forward());
  }

  @Test
  void keysAndValuesAreGatheredAndTheirGradientsSummed() {
    Workload workload = workload(MODEL);
    LayerRange stage = new LayerRange(0, workload.chain().size() - 1);
    Parallelism four = Parallelism.of(Kind.CONTEXT, 4);
    List<GroupExchange> exchanges = GroupExchanges.of(workload.chain(), stage, four, false);
    assertEquals(2, exchanges.size());
    GroupExchange gather = exchanges.get(0);
    assertEquals(GroupExchange.Kind.GATHER, gather.kind());
    assertTrue(gather.forward());
    assertEquals((long) TOKENS * KEYS_AND_VALUES, gather.elements());
    assertEquals((long) TOKENS / 4 * KEYS_AND_VALUES, gather.handed().elements(1, 3));
    GroupExchange sums = exchanges.get(1);
    assertEquals(GroupExchange.Kind.SUM_PARTS, sums.kind());
    assertTrue(!sums.forward());
    assertEquals((long) TOKENS * KEYS_AND_VALUES, sums.elements());
  }

  /** The same layers as if the runtime had been timed. */
  private static Workload measured(Workload described) {
    Profile profile = described.profile();
    Profile timed =
        new Profile(
            new Provenance("test", "", "", true),
            profile.precision(),
            IntStream.range(0, profile.layers()).mapToObj(profile::sizes).toList(),
            profile.samples(),
            List.of(profile.times(0)));
    return new Workload(described.chain(), timed, described.training(), described.cluster());
  }

  /**
   * Two context-parallel ranks of two tensor-parallel ones: half of the features and of the tokens,
   * and between stages the tokens of a copy.
   */
  @Test
  void copiesOfGroupsDivideFeaturesAndTokens() {
    Workload workload = workload(MODEL);
    Parallelism both = Parallelism.ofCopies(2, 2);
    Profile features = part(workload, Kind.SEQUENCE, 2);
    Profile all = workload.profile();
    Profile own = ShardedProfile.of(workload, both, false).profile();
    for (int layer = 0; layer < all.layers(); layer++) {
      assertEquals(features.sizes(layer).parameters(), own.sizes(layer).parameters());
      double kept = features.sizes(layer).kept() / 2;
      assertEquals(kept, own.sizes(layer).kept(), 1e-6 * kept);
      assertEquals(features.sizes(layer).output() / 2, own.sizes(layer).output(), 1);
      double half = features.times(0).get(layer).forward() / 2;
      assertEquals(half, own.times(0).get(layer).forward(), 0.05 * half, "layer " + layer);
      double update = features.times(0).get(layer).update();
      assertEquals(update, own.times(0).get(layer).update());
    }
  }

  /** What each copy exchanges is half, and those who have the same head gather its keys. */
  @Test
  void copiesExchangeForTheirTokensAndGatherTheirHeadsKeys() {
    Workload workload = workload(MODEL);
    LayerRange stage = new LayerRange(0, workload.chain().size() - 1);
    Parallelism both = Parallelism.ofCopies(2, 2);
    List<GroupExchange> inner =
        GroupExchanges.of(workload.chain(), stage, Parallelism.of(Kind.SEQUENCE, 2), false);
    List<GroupExchange> found = GroupExchanges.of(workload.chain(), stage, both, false);
    assertEquals(inner.size() + 2, found.size());
    for (int i = 0; i < inner.size(); i++) {
      assertEquals(inner.get(i).kind(), found.get(i).kind());
      assertEquals(inner.get(i).elements(), 2 * found.get(i).elements());
      assertEquals(inner.get(i).handedBy(1, 2), 2 * found.get(i).handedBy(1, 2));
    }
    List<GroupExchange> keys = found.stream().filter(GroupExchange::betweenCopies).toList();
    assertEquals(
        List.of(GroupExchange.Kind.GATHER, GroupExchange.Kind.SUM_PARTS),
        keys.stream().map(GroupExchange::kind).toList());
    for (GroupExchange each : keys) {
      assertEquals((long) TOKENS * KEYS_AND_VALUES / 2, each.elements());
      assertEquals((long) TOKENS * KEYS_AND_VALUES / 4, each.handedBy(0, 2));
    }
  }

  /** Copies in two machines: their members exchange within a machine, keys go between machines. */
  @Test
  void keysGoOverTheLinksBetweenCopies() {
    Workload node = workload(MODEL);
    Cluster two = Clusters.find("dgx-h100:2x2").orElseThrow();
    Workload workload = new Workload(node.chain(), node.profile(), node.training(), two);
    Parallelism both = Parallelism.ofCopies(2, 2);
    StageGroups groups = StageGroups.of(new StageCosts(workload), new int[] {0, 1, 2, 3}, both);
    ExchangeSeconds seconds =
        new ExchangeSeconds(
            new PartTimes(workload),
            groups.tensor(),
            groups.betweenCopies(),
            workload.profile().precision(),
            both);
    Collectives within = Collectives.achieved(two, new int[][] {{0, 1}, {2, 3}});
    Collectives between = Collectives.achieved(two, new int[][] {{0, 2}, {1, 3}});
    LayerRange stage = new LayerRange(0, workload.chain().size() - 1);
    int apart = 0;
    for (GroupExchange each : GroupExchanges.of(workload.chain(), stage, both, false)) {
      if (each.kind() == GroupExchange.Kind.GATHER) {
        double bytes = each.elements() * (double) workload.profile().precision().bytes();
        double moved = new PartTimes(workload).moving(2.0 * each.elements());
        double expected = (each.betweenCopies() ? between : within).allGather(bytes) + moved;
        assertEquals(expected, seconds.of(each, 1), 1e-12 * expected);
        apart += each.betweenCopies() ? 1 : 0;
      }
    }
    assertEquals(1, apart);
    assertTrue(between.allGather(1e9) > 2 * within.allGather(1e9));
  }

  private static final String EXPERTS = MODEL.replace("llama", "mixtral") + ",experts=8,chosen=2";

  /** Of eight experts a device of four has two, which compute for the tokens of all. */
  @Test
  void expertsAreHeldByTheirOwnersAndAsBusyAsTokensAreMany() {
    Workload workload = workload(EXPERTS);
    int block = layer(workload, "block-1");
    Profile all = workload.profile();
    Profile own = part(workload, Kind.EXPERT, 4);
    double expert = 3.0 * 512 * 1024 * all.precision().bytes();
    assertEquals(
        all.sizes(block).parameters() - 6 * expert, own.sizes(block).parameters(), 1e-6 * expert);
    Profile tokens = part(workload, Kind.CONTEXT, 4);
    assertEquals(tokens.sizes(block).kept(), own.sizes(block).kept());
    double seconds = tokens.times(0).get(block).forward();
    assertEquals(seconds, own.times(0).get(block).forward(), 0.01 * seconds);
    assertTrue(own.times(0).get(block).update() < tokens.times(0).get(block).update());
  }

  /** A quarter of the tokens, times two experts each, of which three quarters are elsewhere. */
  @Test
  void rowsGoToExpertsAndBackInBothPasses() {
    Workload workload = workload(EXPERTS);
    LayerRange stage = new LayerRange(0, workload.chain().size() - 1);
    Parallelism four = Parallelism.of(Kind.EXPERT, 4);
    List<GroupExchange> rows =
        GroupExchanges.of(workload.chain(), stage, four, false).stream()
            .filter(each -> each.kind() == GroupExchange.Kind.ALL_TO_ALL && each.ofEachSample())
            .toList();
    assertEquals(4, rows.size());
    assertEquals(2, rows.stream().filter(GroupExchange::forward).count());
    for (GroupExchange each : rows) {
      assertEquals((long) TOKENS / 4 * 2 * 512 * 3 / 4, each.handedBy(2, 4));
    }
  }

  /** Of four samples a device has one: as many rows for experts, and no keys of others. */
  @Test
  void whoHasWholeSequencesGathersNoKeys() {
    Workload workload = workload(EXPERTS);
    LayerRange stage = new LayerRange(0, workload.chain().size() - 1);
    Parallelism four = Parallelism.ofWholeSequences(4);
    List<GroupExchange> rows =
        GroupExchanges.of(workload.chain(), stage, four, false).stream()
            .filter(GroupExchange::ofEachSample)
            .toList();
    assertEquals(4, rows.size());
    for (GroupExchange each : rows) {
      assertEquals(GroupExchange.Kind.ALL_TO_ALL, each.kind());
      assertEquals((long) TOKENS / 4 * 2 * 512 * 3 / 4, each.handedBy(2, 4));
    }
    int block = layer(workload, "block-1");
    Profile all = workload.profile();
    Profile own = ShardedProfile.of(workload, four, false).profile();
    assertEquals(
        part(workload, Kind.EXPERT, 4).sizes(block).parameters(), own.sizes(block).parameters());
    assertEquals(all.sizes(block).kept() / 4, own.sizes(block).kept(), 1);
    double quarter = all.times(0).get(block).forward() / 4;
    assertEquals(quarter, own.times(0).get(block).forward(), 0.02 * quarter); // whole weights
  }
}
