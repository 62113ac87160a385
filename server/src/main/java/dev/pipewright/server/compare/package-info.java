/** Plans of studies, or schedules, one above the other on one axis of time. */
@NullMarked
package dev.pipewright.server.compare;

import org.jspecify.annotations.NullMarked;
