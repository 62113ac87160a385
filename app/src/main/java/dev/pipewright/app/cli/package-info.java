/**
 * The command line: parses, wires domain objects together, prints, exits.
 *
 * <p>Exit status: 0 done; 1 the honest answer is no; 2 the input or the flags are wrong; 3 a
 * failure of the program.
 */
@NullMarked
package dev.pipewright.app.cli;

import org.jspecify.annotations.NullMarked;
