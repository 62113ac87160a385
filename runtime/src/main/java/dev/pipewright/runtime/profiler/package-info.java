/**
 * Measures what planners need to know: layers on this machine, the links between worker processes,
 * and peaks of memory.
 */
@NullMarked
package dev.pipewright.runtime.profiler;

import org.jspecify.annotations.NullMarked;
