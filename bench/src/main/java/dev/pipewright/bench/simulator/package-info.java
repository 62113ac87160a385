/** How schedules and the two simulators scale with ranks and micro-batches, in time and in heap. */
@NullMarked
package dev.pipewright.bench.simulator;

import org.jspecify.annotations.NullMarked;
