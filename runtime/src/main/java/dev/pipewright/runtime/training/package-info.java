/** Training runs: each worker's job and reports, and how the runtime answers a request. */
@NullMarked
package dev.pipewright.runtime.training;

import org.jspecify.annotations.NullMarked;
