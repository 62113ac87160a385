package dev.pipewright.predict.paradl;

import dev.pipewright.cost.PartShares;
import dev.pipewright.predict.paradl.Strategy.Split;
import java.util.ArrayList;
import java.util.List;

/** Which layers a layout splits. */
final class Sharing {
  private final ParadlNetwork network;
  private final Layout layout;

  Sharing(ParadlNetwork network, Layout layout) {
    this.network = network;
    this.layout = layout;
  }

  List<LayerShare> shares() {
    return layout.strategy().split() == Split.POSITIONS ? positions() : products();
  }

  /** Filters and channels; channels from the second product on (ParaDL §4.5). */
  private List<LayerShare> products() {
    List<LayerShare> shares = new ArrayList<>();
    boolean first = true;
    for (int layer = 0; layer < network.size(); layer++) {
      Geometry l = network.layer(layer);
      boolean product = l.kind().product();
      boolean splits =
          product
              && layout.parts() > 1
              && network.mayBeSplit(layer)
              && !(first && layout.strategy().split() == Split.CHANNELS);
      shares.add(splits ? new LayerShare(part(l), true, false, false) : LayerShare.WHOLE);
      first &= !product;
    }
    return shares;
  }

  private PartShares part(Geometry layer) {
    return switch (layout.strategy().split()) {
      case FILTERS -> new PartShares(share(layer.filters(), layout.parts()), 1, 1);
      case CHANNELS -> new PartShares(1, share(layer.channels(), layout.parts()), 1);
      default -> PartShares.WHOLE;
    };
  }

  private List<LayerShare> positions() {
    SpatialRegion region = network.shapes().region(layout.grid());
    List<LayerShare> shares = new ArrayList<>();
    for (int layer = 0; layer < network.size(); layer++) {
      if (region.contains(layer)) {
        Geometry l = network.layer(layer);
        double positions = 1;
        for (int axis = 0; axis < layout.grid().size(); axis++) {
          positions *= share(l.out().get(axis), layout.grid().get(axis));
        }
        shares.add(
            new LayerShare(
                new PartShares(1, 1, positions),
                true,
                region.gathersBefore(layer),
                region.gathersAfter(layer)));
      } else {
        shares.add(LayerShare.WHOLE);
      }
    }
    return shares;
  }

  private static double share(int extent, int parts) {
    return (double) ParadlHalo.largest(extent, parts) / extent;
  }
}
