/**
 * Trains: a worker runs the ops of its rank in a schedule on the part of the network that it holds,
 * exchanges activations and gradients with the others, and brings its parameters up to date.
 */
@NullMarked
package dev.pipewright.runtime.engine;

import org.jspecify.annotations.NullMarked;
