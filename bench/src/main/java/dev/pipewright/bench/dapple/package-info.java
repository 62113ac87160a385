/**
 * Tables and figures of DAPPLE (PPoPP 2021): its plans, the plans of its authors' planner, and how
 * planning time grows.
 */
@NullMarked
package dev.pipewright.bench.dapple;

import org.jspecify.annotations.NullMarked;
