/** The command {@code predict}: strategies over numbers of devices. */
@NullMarked
package dev.pipewright.app.cli.predict;

import org.jspecify.annotations.NullMarked;
