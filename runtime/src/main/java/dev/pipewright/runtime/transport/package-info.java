/**
 * Messages between workers: point to point with tags, and collective operations. Besides {@code
 * tensor} the only package that knows the native library.
 */
@NullMarked
package dev.pipewright.runtime.transport;

import org.jspecify.annotations.NullMarked;
