package dev.pipewright.profile;

import dev.pipewright.profile.Profile.LayerTimes;
import java.util.List;
import java.util.Optional;

/**
 * What layers take where several devices divide each of them, for profiles that know better than a
 * share of the whole: parts of a matrix product are less efficient, and kernels are as many.
 */
public interface DividedLayers {
  /**
   * Seconds of each layer on one device of a tensor-parallel group, without what devices exchange;
   * empty where the layers cannot be divided so.
   *
   * @param parts devices of the group
   * @param sequence whether they also divide the tokens between the products
   * @param owners devices, of this group and others, that have some of a mixture's experts each; 1
   *     where those of the group divide each expert
   * @param samples of the group's slice
   */
  Optional<List<LayerTimes>> times(int parts, boolean sequence, int owners, int samples);

  /** The same on one of so many context-parallel ranks, which divide the tokens of all layers. */
  DividedLayers ofContext(int ranks);

  /** The share of the group's exchanges in forward passes that computing does not hide. */
  double exposedForward();

  /** The same in backward passes. */
  double exposedBackward();
}
