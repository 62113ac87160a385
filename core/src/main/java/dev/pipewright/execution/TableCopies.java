package dev.pipewright.execution;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.plan.TiedTable;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Copies of tables that are read twice ({@link TiedTable}). Whoever computes the head has one; a
 * measured profile says so, one that is made from the network alone counts each table once.
 */
final class TableCopies {
  private TableCopies() {}

  /** The same costs with all copies. */
  static StageCosts counted(StageCosts costs) {
    Workload workload = costs.workload();
    Profile profile = workload.profile();
    double element = profile.precision().bytes();
    List<TiedTable> uncounted =
        TiedTable.of(workload.chain().graph()).stream()
            .filter(each -> profile.sizes(each.copyLayer()).parameters() < each.numbers() * element)
            .toList();
    return uncounted.isEmpty()
        ? costs
        : new StageCosts(
            new Workload(
                workload.chain(),
                with(profile, uncounted),
                workload.training(),
                workload.cluster()));
  }

  private static Profile with(Profile profile, List<TiedTable> copied) {
    List<LayerSizes> sizes =
        new ArrayList<>(IntStream.range(0, profile.layers()).mapToObj(profile::sizes).toList());
    List<List<LayerTimes>> times = new ArrayList<>();
    for (int batch = 0; batch < profile.samples().size(); batch++) {
      times.add(new ArrayList<>(profile.times(batch)));
    }
    for (TiedTable table : copied) {
      double bytes = table.numbers() * (double) profile.precision().bytes();
      double share = bytes / profile.sizes(table.layer()).parameters();
      LayerSizes own = sizes.get(table.copyLayer());
      sizes.set(
          table.copyLayer(), new LayerSizes(own.output(), own.kept(), own.parameters() + bytes));
      for (List<LayerTimes> all : times) {
        LayerTimes head = all.get(table.copyLayer());
        double update = head.update() + share * all.get(table.layer()).update();
        all.set(table.copyLayer(), head.updatedIn(update));
      }
    }
    return profile.with(sizes, times);
  }
}
