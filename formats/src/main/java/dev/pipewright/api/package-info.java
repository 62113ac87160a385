/**
 * The library: state a {@link dev.pipewright.api.Problem}, plan it with {@link
 * dev.pipewright.api.Planners}, price a plan with {@link dev.pipewright.api.Oracles}, make a
 * schedule with {@link dev.pipewright.api.Schedules} and run it with {@link
 * dev.pipewright.api.Simulator}. Times are in seconds, sizes in bytes. The command line's {@code
 * plan} takes its defaults and answers from here.
 *
 * <p>Mistakes are {@link java.lang.IllegalArgumentException}s whose message is the sentence that
 * the command line prints, with the command line's name of an option where it is about one.
 */
@NullMarked
package dev.pipewright.api;

import org.jspecify.annotations.NullMarked;
