/** The command {@code plan}: its planners' flags and answers. */
@NullMarked
package dev.pipewright.app.cli.plan;

import org.jspecify.annotations.NullMarked;
