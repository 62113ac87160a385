/** What networks are trained on: samples from files or made by us, dealt out to the workers. */
@NullMarked
package dev.pipewright.runtime.data;

import org.jspecify.annotations.NullMarked;
