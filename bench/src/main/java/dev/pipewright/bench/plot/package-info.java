/**
 * Small pictures of measured figures as SVG: points, lines and rows of dots over labelled axes.
 *
 * <p>Colours are those of M. Okabe and K. Ito (<i>Color universal design</i>, 2008), which the
 * colour-blind can tell apart; every series has a marker of its own as well.
 */
@NullMarked
package dev.pipewright.bench.plot;

import org.jspecify.annotations.NullMarked;
