/**
 * Sweeps: one question for every combination of networks, clusters, batches and flags, and the
 * answers as lines of JSON and as a table.
 */
@NullMarked
package dev.pipewright.formats.sweep;

import org.jspecify.annotations.NullMarked;
