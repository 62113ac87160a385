package dev.pipewright.api;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Check;

/**
 * How long passes take of one micro-batch through all stages of a rank, in seconds or in any unit
 * of time, the same on every rank.
 *
 * @param forward a forward pass
 * @param input the gradient of the input
 * @param weight the gradient of the weights; a whole backward pass takes both
 * @param transfer from a stage to its neighbour on another rank
 */
public record PassTimes(double forward, double input, double weight, double transfer) {
  /** A forward pass takes 1, either gradient takes 1, and transfers are free. */
  public static final PassTimes USUAL = new PassTimes(1, 1, 1, 0);

  public PassTimes {
    Check.amount(forward, "forward time");
    Check.amount(input, "input-gradient time");
    Check.amount(weight, "weight-gradient time");
    Check.amount(transfer, "transfer time");
  }

  /**
   * Of every stage of a placement, in equal parts of its rank's.
   *
   * @param chunks stages of each rank
   */
  OpTimes opTimes(Placement placement, int chunks) {
    return OpTimes.equal(
        placement.stages(), forward / chunks, input / chunks, weight / chunks, transfer);
  }
}
