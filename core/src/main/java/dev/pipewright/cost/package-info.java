/**
 * The oracle: what a plan costs in time and memory, before anything runs.
 *
 * <p>Two uses: {@link dev.pipewright.cost.Oracle} answers for a whole plan; planners build their
 * searches on the O(1) stage costs of {@link dev.pipewright.cost.StageCosts}.
 */
@NullMarked
package dev.pipewright.cost;

import org.jspecify.annotations.NullMarked;
