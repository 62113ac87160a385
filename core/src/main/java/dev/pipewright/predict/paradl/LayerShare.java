package dev.pipewright.predict.paradl;

import dev.pipewright.cost.PartShares;

/**
 * What one device has of a layer.
 *
 * @param split whether other devices of its group have other parts
 * @param gathersBefore whether it reads a layer that is not split, which needs the whole gradient
 * @param gathersAfter whether a layer that is not split reads it
 */
record LayerShare(PartShares part, boolean split, boolean gathersBefore, boolean gathersAfter) {
  static final LayerShare WHOLE = new LayerShare(PartShares.WHOLE, false, false, false);
}
