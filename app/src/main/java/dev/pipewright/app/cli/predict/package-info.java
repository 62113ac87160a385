/** The command {@code predict}: strategies over numbers of devices, or tables of training runs. */
@NullMarked
package dev.pipewright.app.cli.predict;

import org.jspecify.annotations.NullMarked;
