package dev.pipewright.runtime.net;

/**
 * Two parameters that are one: an embedding's table and the same table where a head reads it. They
 * start with the same numbers. Before each update both gradients must be replaced by their sum,
 * wherever the two layers lie; then the same update keeps them the same.
 *
 * @param layer the layer of the graph that the table belongs to and that counts it
 * @param parameter its name
 * @param copyLayer the layer that reads it too
 * @param copy the copy's name
 */
public record Tied(int layer, String parameter, int copyLayer, String copy) {}
