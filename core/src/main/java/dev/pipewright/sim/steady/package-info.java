/** The period of schedules that never flush: {@link dev.pipewright.sim.steady.Period}. */
@NullMarked
package dev.pipewright.sim.steady;

import org.jspecify.annotations.NullMarked;
