package dev.pipewright.planner.placement;

import java.util.Arrays;

/** What a growing set of groups pays for transfers, kept up to date group by group. */
final class TransferLoads {
  private final Groups groups;
  private final IdealLattice lattice;
  private final int[] start; // nets of a group, one after the other
  private final int[] netOf;
  private final int[] size; // groups of a net
  private final int[] held; // of these in the set
  private final double[] netCost;
  private final double[] open; // cost of nets that are not wholly within the ideal, 0 of others
  private double cost;
  private double leaving;

  TransferLoads(Groups groups, IdealLattice lattice) {
    this.groups = groups;
    this.lattice = lattice;
    start = new int[groups.size + 1];
    for (int group = 0; group < groups.size; group++) {
      start[group + 1] = start[group] + groups.netsOf[group].length;
    }
    netOf = new int[start[groups.size]];
    for (int group = 0; group < groups.size; group++) {
      System.arraycopy(groups.netsOf[group], 0, netOf, start[group], groups.netsOf[group].length);
    }
    size = Arrays.stream(groups.nets).mapToInt(net -> net.length).toArray();
    held = new int[size.length];
    netCost = groups.netCost;
    open = new double[size.length];
  }

  /** The set will be taken from the end of {@code ideal}; it is empty now. */
  void open(int ideal) {
    for (int net = 0; net < size.length; net++) {
      int[] in = groups.nets[net];
      int i = in.length;
      while (i > 0 && lattice.contains(ideal, in[i - 1])) {
        i--;
      }
      open[net] = i > 0 ? netCost[net] : 0;
    }
  }

  /** Adds a group to a set with so much to pay. */
  void enter(int group, double cutSoFar, double leavingSoFar) {
    double paid = cutSoFar;
    double paidForSure = leavingSoFar;
    for (int i = start[group]; i < start[group + 1]; i++) {
      int net = netOf[i];
      int count = ++held[net];
      if (count == 1) {
        paid += netCost[net];
        paidForSure += open[net];
      } else if (count == size[net]) {
        paid -= netCost[net];
      }
    }
    cost = paid;
    leaving = paidForSure;
  }

  void leave(int group) {
    for (int i = start[group]; i < start[group + 1]; i++) {
      held[netOf[i]]--;
    }
  }

  /** What the set pays: nets that it holds some of, but not all. */
  double cost() {
    return cost;
  }

  /** What a set pays whatever else of the ideal it takes in. */
  double leaving() {
    return leaving;
  }
}
