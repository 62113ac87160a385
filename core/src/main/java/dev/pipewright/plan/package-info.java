/** A decision: which layers run where, in how many micro-batches, under which schedule. */
@NullMarked
package dev.pipewright.plan;

import org.jspecify.annotations.NullMarked;
