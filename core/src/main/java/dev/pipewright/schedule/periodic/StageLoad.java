package dev.pipewright.schedule.periodic;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * What one batch costs a stage.
 *
 * @param stateBytes memory that the stage takes whatever the schedule: W of the paper
 * @param activationBytes memory of one batch from its forward to its backward pass: a of the paper
 */
public record StageLoad(
    double forwardSeconds, double backwardSeconds, double stateBytes, double activationBytes) {
  public StageLoad {
    Check.amount(forwardSeconds, "forward seconds");
    Check.amount(backwardSeconds, "backward seconds");
    Check.amount(stateBytes, "state bytes");
    Check.amount(activationBytes, "activation bytes");
  }

  /** Both passes: U of the paper. */
  public double seconds() {
    return forwardSeconds + backwardSeconds;
  }

  /**
   * The stages with the transfers between them as stages of their own, on links of their own
   * (§3.1): P stages become 2P − 1, the odd ones links, which hold no memory.
   *
   * @param secondsOfCut of one transfer through each cut; activations and gradients take as long
   */
  public static List<StageLoad> withTransfers(List<StageLoad> stages, double... secondsOfCut) {
    Check.that(
        secondsOfCut.length == stages.size() - 1,
        "one cut between neighbours: cuts=%d, stages=%d",
        secondsOfCut.length,
        stages.size());
    List<StageLoad> all = new ArrayList<>();
    for (int stage = 0; stage < stages.size(); stage++) {
      if (stage > 0) {
        double seconds = secondsOfCut[stage - 1];
        all.add(new StageLoad(seconds, seconds, 0, 0));
      }
      all.add(stages.get(stage));
    }
    return List.copyOf(all);
  }
}
