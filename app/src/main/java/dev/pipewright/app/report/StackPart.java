package dev.pipewright.app.report;

/**
 * What a stacked bar is made of. The colours are from the palette of M. Okabe and K. Ito, as those
 * of {@link Look}; what communicates is warm or green, what computes is blue, grey or yellow.
 *
 * @param word in legends
 * @param style the class of its colour
 */
record StackPart(String word, String style) {}
