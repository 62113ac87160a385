package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Tensor;

/**
 * Numbers of a layer that are trained.
 *
 * @param name the layer's name and the parameter's, such as {@code fc6.weight}; unique in a network
 */
public record Parameter(String name, Tensor value) {}
