/**
 * Pages for the browser that load nothing from anywhere: escapes, figures, tables and sections as
 * markup, and the frame of a page around a timeline. Its style sheets and scripts are resources of
 * this package.
 */
@NullMarked
package dev.pipewright.app.report.page;

import org.jspecify.annotations.NullMarked;
