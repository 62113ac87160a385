/**
 * Work that repeats for ever, run until it runs evenly: {@link
 * dev.pipewright.sim.repeated.RepeatedRun}. Patterns of periodic schedules are such work, and so
 * are devices that each do their part of one sample after the other.
 */
@NullMarked
package dev.pipewright.sim.repeated;

import org.jspecify.annotations.NullMarked;
