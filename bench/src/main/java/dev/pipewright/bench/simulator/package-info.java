/**
 * How schedules and the two simulators scale with ranks and micro-batches, in time and in heap, and
 * the bubbles that papers state, next to simulated ones.
 */
@NullMarked
package dev.pipewright.bench.simulator;

import org.jspecify.annotations.NullMarked;
