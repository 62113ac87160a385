/**
 * Words, numbers and tables as text: what every report is written with, for a terminal of any
 * width, with or without colours. Nothing here knows what a report is about but {@code Words} and
 * {@link dev.pipewright.app.report.text.TrainingLines}, which word plans and training.
 */
@NullMarked
package dev.pipewright.app.report.text;

import org.jspecify.annotations.NullMarked;
