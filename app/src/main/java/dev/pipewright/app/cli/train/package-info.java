/** The commands that run: {@code train}, {@code join}, {@code compare}, {@code profile}. */
@NullMarked
package dev.pipewright.app.cli.train;

import org.jspecify.annotations.NullMarked;
