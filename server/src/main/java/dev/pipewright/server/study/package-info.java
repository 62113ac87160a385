/** Studies: what a user may ask, as a command line, and the runs that answer it. */
@NullMarked
package dev.pipewright.server.study;

import org.jspecify.annotations.NullMarked;
