package dev.pipewright.app.report.chart;

/**
 * What a stacked bar is made of. The colours are from the palette of M. Okabe and K. Ito, as those
 * of {@link Look}; what communicates is warm or green, what computes is blue, grey or yellow.
 *
 * @param word in legends
 * @param style the class of its colour
 */
public record StackPart(String word, String style) {}
