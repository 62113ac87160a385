/** The command {@code export}: plans as files of other frameworks and launchers. */
@NullMarked
package dev.pipewright.app.cli.export;

import org.jspecify.annotations.NullMarked;
