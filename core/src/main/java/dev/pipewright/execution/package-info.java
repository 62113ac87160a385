/**
 * Running for real: what is asked of a training runtime and what it answers. The runtime itself is
 * found when it is needed, so that planning does without it.
 */
@NullMarked
package dev.pipewright.execution;

import org.jspecify.annotations.NullMarked;
