/**
 * Training on this machine: predicted and measured steps and memory, convergence under stale
 * gradients, and speed next to PyTorch's. Each starts worker processes.
 */
@NullMarked
package dev.pipewright.bench.runtime;

import org.jspecify.annotations.NullMarked;
