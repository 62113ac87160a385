/**
 * Amounts with their unit in the type, and the argument check that everything above uses.
 *
 * <p>Records carry single values across interfaces; hot loops use {@code double[]} named by their
 * unit ({@code forwardSeconds}).
 */
@NullMarked
package dev.pipewright.units;

import org.jspecify.annotations.NullMarked;
