/**
 * The machine that this runs on: what it has, as a cluster too, and the tool that measures networks
 * of PyTorch on it.
 */
@NullMarked
package dev.pipewright.app.cli.host;

import org.jspecify.annotations.NullMarked;
