package dev.pipewright.sim;

import dev.pipewright.units.Check;

/**
 * What a schedule moves over shared links.
 *
 * @param cuts bytes of one micro-batch's activation between each stage and the next, by stage of
 *     all chains; its gradient is as large
 * @param states bytes of each stage's gradients, or parameters, that an exchange moves
 * @param collective how collective operations are made of messages
 */
public record Traffic(double[] cuts, double[] states, CollectiveRounds collective) {
  public Traffic {
    Check.that(
        cuts.length == states.length,
        "one size per stage: cuts=%d, states=%d",
        cuts.length,
        states.length);
    for (int stage = 0; stage < cuts.length; stage++) {
      Check.amount(cuts[stage], "bytes of a cut");
      Check.amount(states[stage], "bytes of a stage");
    }
  }

  /** Messages between stages only. */
  public static Traffic ofCuts(double[] cuts) {
    return new Traffic(cuts, new double[cuts.length], CollectiveRounds.ring());
  }
}
