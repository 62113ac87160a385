/**
 * Planners compared: {@code Contender} lists them, the simulator judges their plans. {@code
 * PlannerBars} and {@code PlannerScaling} time them on the seeded inputs of {@code ScalingInputs}.
 */
@NullMarked
package dev.pipewright.bench.planners;

import org.jspecify.annotations.NullMarked;
