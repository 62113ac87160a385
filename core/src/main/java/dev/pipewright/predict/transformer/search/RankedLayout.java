package dev.pipewright.predict.transformer.search;

/**
 * A layout that fits, with what it takes.
 *
 * @param seconds of a step
 * @param bytes of tensors on the GPU that needs most
 */
public record RankedLayout(SearchedLayout searched, double seconds, double bytes) {}
