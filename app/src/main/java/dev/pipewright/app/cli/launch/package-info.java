/** Ranks that a launcher of the user's cluster starts: where each is, and what starts them. */
@NullMarked
package dev.pipewright.app.cli.launch;

import org.jspecify.annotations.NullMarked;
