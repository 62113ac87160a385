/** Sweeps: their answers as a table and as charts over devices. */
@NullMarked
package dev.pipewright.app.report.sweep;

import org.jspecify.annotations.NullMarked;
