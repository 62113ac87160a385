package dev.pipewright.predict.paradl;

/**
 * What ends a strategy's scaling.
 *
 * @param kind {@code scaling}, {@code memory} or {@code shape}
 * @param devices the most devices that it can use
 * @param why the number that sets the limit, in words
 */
public record ScalingLimit(String kind, int devices, String why) {}
