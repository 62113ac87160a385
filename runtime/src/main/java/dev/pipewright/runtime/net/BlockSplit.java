package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Tensor;

/**
 * How the members of a team share out a transformer's block: heads and inner features, and where
 * sequences are cut also the steps of what each step computes by itself (M. Shoeybi et al.,
 * <i>Megatron-LM</i>, 2019, §3; V. Korthikanti et al., <i>Reducing activation recomputation in
 * large transformer models</i>, 2022, §4.2.2).
 *
 * @param steps whether the block reads and makes some of the steps of its sequences
 * @param sequence steps of a whole one
 */
record BlockSplit(Team team, boolean steps, int sequence) {

  private Cut cut() {
    return Cut.of(team, 1, sequence);
  }

  /** A parameter of which each member has what makes its outputs. */
  Parameter outputs(Parameter whole, int blocks, int unit) {
    return team.alone() ? whole : whole.piece(team, 0, blocks, unit);
  }

  /** A parameter of which each member has what reads its inputs. */
  Parameter inputs(Parameter whole, int unit) {
    return team.alone() ? whole : whole.piece(team, 1, 1, unit);
  }

  /** So many of as many things as this member has. */
  int own(int all) {
    return (int) team.own(all).count();
  }

  /** What all members read, each for its own outputs. */
  Tensor read(Tensor states) {
    if (team.alone()) {
      return states;
    }
    TeamSteps between = new TeamSteps(team);
    return steps ? between.gatheredForParts(states, cut()) : between.shared(states);
  }

  /** The sum of what all members make, or their own steps of it. */
  Tensor sum(Tensor term) {
    TeamSteps between = new TeamSteps(team);
    return steps ? between.ownOfSum(term, cut()) : between.sum(term);
  }
}
