/**
 * Charts as SVG without a library: axes, labels that avoid each other, legends and stacked bars.
 * {@link dev.pipewright.app.report.chart.Look} gives each kind of work its colour.
 */
@NullMarked
package dev.pipewright.app.report.chart;

import org.jspecify.annotations.NullMarked;
