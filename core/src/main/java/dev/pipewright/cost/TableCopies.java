package dev.pipewright.cost;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.TiedTable;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Copies of tables that two layers read ({@link TiedTable}). A stage that has both layers holds the
 * table once; where they are in two stages, each holds it. Profiles differ: a measured one counts
 * the table in both layers, one made from the network alone counts it in the first.
 */
public final class TableCopies {
  private final List<Copy> copies;

  /** Of a layer's parameters at most, where a worker has a part of its table: half, and rows. */
  private static final double PART = 0.75;

  /**
   * A table.
   *
   * @param layer position in the chain of the layer that counts it
   * @param copyLayer position of the other layer
   * @param counted whether the profile counts it in the other layer, too
   */
  private record Copy(
      int layer, int copyLayer, double bytes, double updateSeconds, boolean counted) {
    /** What is added to the sums over positions {@code first..end-1}: −1, 0 or 1 tables. */
    int missing(int first, int end) {
      boolean copyHere = first <= copyLayer && copyLayer < end;
      boolean here = first <= layer && layer < end;
      return copyHere ? (here ? 0 : 1) - (counted ? 1 : 0) : 0;
    }
  }

  private TableCopies(List<Copy> copies) {
    this.copies = copies;
  }

  /** The tables of a network. */
  public static TableCopies of(Chain chain, Profile profile) {
    List<Copy> copies = new ArrayList<>();
    for (TiedTable table : chain.graph().tiedTables()) {
      double counted = profile.sizes(table.layer()).parameters();
      double bytes = bytes(chain.graph(), table, profile);
      double share = counted > 0 ? bytes / counted : 0;
      copies.add(
          new Copy(
              position(chain, table.layer()),
              position(chain, table.copyLayer()),
              bytes,
              share * profile.times(0).get(table.layer()).update(),
              counts(profile, table)));
    }
    return new TableCopies(copies);
  }

  /** Of the table, or of the part of it that the profile's worker has. */
  private static double bytes(LayerGraph graph, TiedTable table, Profile profile) {
    double whole = graph.layer(table.layer()).parameters() * (double) profile.precision().bytes();
    double counted = profile.sizes(table.layer()).parameters();
    double part = counted < whole * PART ? counted / whole : 1;
    return part * table.numbers() * profile.precision().bytes();
  }

  private static boolean counts(Profile profile, TiedTable table) {
    double bytes = table.numbers() * (double) profile.precision().bytes();
    return profile.sizes(table.copyLayer()).parameters() >= bytes;
  }

  private static int position(Chain chain, int layer) {
    int position = 0;
    while (Arrays.stream(chain.layers(-1, position)).noneMatch(each -> each == layer)) {
      position++;
    }
    return position;
  }

  /**
   * What a stage of positions {@code first..end-1} holds of tables, less what the profile's layers
   * add up to.
   */
  public double bytes(int first, int end) {
    double bytes = 0;
    for (Copy copy : copies) {
      bytes += copy.missing(first, end) * copy.bytes();
    }
    return bytes;
  }

  /** The same for the seconds of an update. */
  double updateSeconds(int first, int end) {
    double seconds = 0;
    for (Copy copy : copies) {
      seconds += copy.missing(first, end) * copy.updateSeconds();
    }
    return seconds;
  }

  /** The same costs with each table counted in both layers. */
  public static StageCosts counted(StageCosts costs) {
    Workload workload = costs.workload();
    Profile profile = workload.profile();
    List<TiedTable> uncounted =
        workload.chain().graph().tiedTables().stream()
            .filter(each -> !counts(profile, each))
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
