/** The commands that list networks and clusters, and {@code calibrate}, which writes the latter. */
@NullMarked
package dev.pipewright.app.cli.catalog;

import org.jspecify.annotations.NullMarked;
