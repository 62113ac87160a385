/** Traces of training runs that other programs recorded, each rank's in a file of its own. */
@NullMarked
package dev.pipewright.formats.trace;

import org.jspecify.annotations.NullMarked;
