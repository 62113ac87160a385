/** The command {@code reproduce}: published tables and figures, computed again. */
@NullMarked
package dev.pipewright.app.cli.reproduce;

import org.jspecify.annotations.NullMarked;
