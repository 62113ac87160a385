/**
 * How the devices of a stage share its layers: by samples, filters, channels, heads, sequence,
 * words or space; and which part of a layer each of them has.
 */
@NullMarked
package dev.pipewright.parallel;

import org.jspecify.annotations.NullMarked;
