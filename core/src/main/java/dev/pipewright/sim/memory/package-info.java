/**
 * What every rank of a simulated run holds over time, and what for: {@link
 * dev.pipewright.sim.memory.RunMemory} counts {@link dev.pipewright.sim.memory.StageBytes} along a
 * {@link dev.pipewright.sim.Run}.
 */
@NullMarked
package dev.pipewright.sim.memory;

import org.jspecify.annotations.NullMarked;
