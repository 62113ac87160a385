/** The commands about the installation: {@code doctor} and {@code completion}. */
@NullMarked
package dev.pipewright.app.cli.setup;

import org.jspecify.annotations.NullMarked;
