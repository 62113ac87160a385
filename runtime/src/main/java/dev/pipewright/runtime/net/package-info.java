/** Networks that compute: the layers of a graph as functions of tensors, with their parameters. */
@NullMarked
package dev.pipewright.runtime.net;

import org.jspecify.annotations.NullMarked;
