/** The command {@code import}: traces of real runs as timelines, shares of ranks and profiles. */
@NullMarked
package dev.pipewright.app.cli.trace;

import org.jspecify.annotations.NullMarked;
