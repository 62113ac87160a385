package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Training;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Check;

/**
 * What is to be trained, on what: the chain that may be cut, the profile of its layers, how it is
 * trained, the cluster.
 */
public record Workload(Chain chain, Profile profile, Training training, Cluster cluster) {
  public Workload {
    Check.that(
        profile.layers() == chain.graph().size(),
        "the profile must have one entry per layer: entries=%d, layers=%d",
        profile.layers(),
        chain.graph().size());
  }
}
