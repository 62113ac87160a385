package dev.pipewright.predict.paradl;

/**
 * A bottleneck that the numbers show.
 *
 * @param number how much of it: a share of the iteration or of the memory, or a factor
 * @param sentence the number in its sentence
 * @param help what would lessen it
 */
public record Finding(Bottleneck bottleneck, double number, String sentence, String help) {}
