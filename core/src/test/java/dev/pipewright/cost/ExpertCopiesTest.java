package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.exchange.HeldBy;
import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.model.Chain;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.profile.Profile;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What two tensor-parallel groups of two cost that divide samples and experts, by hand. */
class ExpertCopiesTest {
  private static final int TOKENS = 1024;
  private static final String MODEL =
      "mixtral:layers=1,hidden=512,heads=8,kv-heads=2,ffn=1024,sequence=1024,vocabulary=1000,experts=8,chosen=2";
  private static final Parallelism COPIES = Parallelism.ofExpertCopies(2, 2);

  private static Workload workload() {
    ZooModel model = Models.find(MODEL).orElseThrow();
    Cluster cluster = Clusters.find("dgx-h100:2x4").orElseThrow();
    Profile profile = Roofline.profile(model.graph(), cluster, model.training(), List.of(1, 2));
    return new Workload(Chain.of(model.graph()), profile, model.training(), cluster);
  }

  private static StageGroups groups(Workload workload) {
    int[] devices = {0, 1, 2, 3, 4, 5, 6, 7}; // two replicas
    return StageGroups.of(new StageCosts(workload), devices, COPIES);
  }

  /** Experts are the same in two machines; the same part is in both groups of each. */
  @Test
  void devicesWithTheSameExpertsSumThese() {
    Workload workload = workload();
    Cluster cluster = workload.cluster();
    StageGroups groups = groups(workload);
    Collectives experts =
        Collectives.achieved(cluster, new int[][] {{0, 4}, {1, 5}, {2, 6}, {3, 7}});
    Collectives part = Collectives.achieved(cluster, new int[][] {{0, 2, 4, 6}, {1, 3, 5, 7}});
    Collectives all = Collectives.achieved(cluster, new int[] {0, 1, 2, 3, 4, 5, 6, 7});
    double bytes = 1e8;
    assertEquals(experts.allReduce(bytes), groups.of(HeldBy.SAME_EXPERTS).allReduce(bytes));
    assertEquals(part.allReduce(bytes), groups.of(HeldBy.SAME_PART).allReduce(bytes));
    assertEquals(all.allReduce(bytes), groups.of(HeldBy.STAGE).allReduce(bytes));
    assertTrue(experts.allReduce(bytes) != part.allReduce(bytes));

    ShardedParameters parameters = new ShardedParameters(workload.chain().graph(), COPIES);
    double gradient = workload.training().gradientBytes();
    double ofExperts = 0;
    double ofPart = 0;
    double ofAll = 0;
    for (int layer = 0; layer < workload.chain().graph().size(); layer++) {
      ShardedParameters.Held held = parameters.of(layer, 0);
      ofExperts += held.experts() * gradient;
      ofPart += (held.pieces() + (held.summed() ? 0 : held.whole())) * gradient;
      ofAll += held.summed() ? held.whole() * gradient : 0;
    }
    assertEquals(2 * 3.0 * 512 * 1024 * gradient, ofExperts);
    Collectives tensor =
        Collectives.achieved(cluster, new int[][] {{0, 1}, {2, 3}, {4, 5}, {6, 7}});
    double expected =
        experts.allReduce(ofExperts)
            + part.allReduce(ofPart)
            + tensor.reduceScatter(ofAll)
            + part.allReduce(ofAll / 2)
            + tensor.allGather(ofAll);
    StageCosts own = new StageCosts(ShardedProfile.of(workload, COPIES, true));
    GradientSumSeconds sums = new GradientSumSeconds(own, 0, own.size(), COPIES, groups);
    assertEquals(expected, sums.seconds(), 1e-9 * expected);
  }

  /** Groups exchange for a sample of two, and nothing around experts, to which all send rows. */
  @Test
  void groupsExchangeForTheirSamplesAndRowsGoToAll() {
    Workload workload = workload();
    LayerRange stage = new LayerRange(0, workload.chain().size() - 1);
    List<GroupExchange> alone =
        GroupExchanges.of(workload.chain(), stage, Parallelism.of(Kind.SEQUENCE, 2), true);
    List<GroupExchange> found = GroupExchanges.of(workload.chain(), stage, COPIES, true);
    List<GroupExchange> within = found.stream().filter(each -> !each.betweenCopies()).toList();
    assertEquals(alone.size() - 4, within.size()); // around the perceptron, there and back
    assertEquals(alone.get(0).elements(), 2 * within.get(0).elements());
    List<GroupExchange> rows =
        found.stream().filter(each -> each.betweenCopies() && each.ofEachSample()).toList();
    assertEquals(4, rows.size());
    Collectives all =
        Collectives.achieved(workload.cluster(), new int[][] {{0, 1, 2, 3}, {4, 5, 6, 7}});
    StageGroups groups = groups(workload);
    ExchangeSeconds seconds =
        new ExchangeSeconds(
            new PartTimes(workload),
            groups.tensor(),
            groups.betweenCopies(),
            workload.profile().precision(),
            COPIES);
    for (GroupExchange each : rows) {
      assertEquals(GroupExchange.Kind.ALL_TO_ALL, each.kind());
      assertEquals((long) TOKENS / 4 * 2 * 512 * 3 / 4, each.handedBy(2, 4));
      double elements = (double) TOKENS * 2 * 512 / 4; // of a member, for a sample of the group
      double moved = new PartTimes(workload).moving(2 * elements);
      double expected = all.allToAll(elements * workload.profile().precision().bytes()) + moved;
      assertEquals(expected, seconds.of(each, 1), 1e-9 * expected);
    }
  }

  /** Of two samples each group has one, and computes and keeps what it would alone. */
  @Test
  void aGroupComputesItsOwnSamples() {
    Workload workload = workload();
    Profile alone = ShardedProfile.of(workload, Parallelism.of(Kind.SEQUENCE, 2), true).profile();
    Profile own = ShardedProfile.of(workload, COPIES, true).profile();
    ShardedParameters parameters = new ShardedParameters(workload.chain().graph(), COPIES);
    double number = workload.profile().precision().bytes();
    for (int layer = 0; layer < own.layers(); layer++) {
      assertEquals(alone.sizes(layer).kept() / 2, own.sizes(layer).kept(), 1);
      assertEquals(alone.sizes(layer).output() / 2, own.sizes(layer).output(), 1);
      assertEquals(parameters.most(layer) * number, own.sizes(layer).parameters(), 1);
    }
    double one = alone.seconds(Profile.Quantity.FORWARD, 1)[1];
    assertEquals(one, own.seconds(Profile.Quantity.FORWARD, 2)[1], 1e-9 * one);
  }
}
