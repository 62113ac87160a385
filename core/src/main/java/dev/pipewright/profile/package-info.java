/**
 * What was measured or derived about the layers of a network on a device, and where it came from.
 */
@NullMarked
package dev.pipewright.profile;

import org.jspecify.annotations.NullMarked;
