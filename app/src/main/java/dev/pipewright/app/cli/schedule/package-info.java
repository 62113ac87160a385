/**
 * The commands that make, draw and compare schedules of counts, and what others ask of schedules.
 */
@NullMarked
package dev.pipewright.app.cli.schedule;

import org.jspecify.annotations.NullMarked;
