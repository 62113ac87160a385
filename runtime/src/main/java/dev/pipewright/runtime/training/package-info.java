/**
 * Training runs: what each worker is told, what it tells, and how the runtime answers a request.
 */
@NullMarked
package dev.pipewright.runtime.training;

import org.jspecify.annotations.NullMarked;
