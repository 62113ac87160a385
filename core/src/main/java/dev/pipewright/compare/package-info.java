/** Measured runs next to what was predicted and simulated. */
@NullMarked
package dev.pipewright.compare;

import org.jspecify.annotations.NullMarked;
