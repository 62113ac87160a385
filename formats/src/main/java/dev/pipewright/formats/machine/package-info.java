/** Data sheets of machines, and clusters of them by name. */
@NullMarked
package dev.pipewright.formats.machine;

import org.jspecify.annotations.NullMarked;
