/** What a run measures of itself, step by step: written to files and shown as it goes. */
@NullMarked
package dev.pipewright.runtime.metrics;

import org.jspecify.annotations.NullMarked;
