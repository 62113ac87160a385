/**
 * Whether a schedule can run, and if not, why: {@link dev.pipewright.schedule.check.Validator} asks
 * in turn whether all work is there once, whether each rank's order makes sense, whether ranks wait
 * for each other for ever, and whether recorded times and memory are right.
 */
@NullMarked
package dev.pipewright.schedule.check;

import org.jspecify.annotations.NullMarked;
