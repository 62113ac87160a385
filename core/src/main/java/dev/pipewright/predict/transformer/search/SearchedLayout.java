package dev.pipewright.predict.transformer.search;

import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.predict.transformer.TrainingLayout;

/**
 * One configuration of a search.
 *
 * @param offloadedLayers of a pipeline rank that wait in the host's memory
 */
public record SearchedLayout(
    TrainingLayout layout, RecomputePolicy recompute, int offloadedLayers) {}
