/**
 * Tensors, their operations and their gradients: libtorch, seen through the few doors that the
 * runtime needs. Only this package and {@code transport} know the native library.
 */
@NullMarked
package dev.pipewright.runtime.tensor;

import org.jspecify.annotations.NullMarked;
