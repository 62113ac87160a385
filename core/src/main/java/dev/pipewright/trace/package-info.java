/** What happened when: the one form in which simulated and measured runs are shown and compared. */
@NullMarked
package dev.pipewright.trace;

import org.jspecify.annotations.NullMarked;
