/** The site of {@code pipewright serve}: its parts put together. */
@NullMarked
package dev.pipewright.server;

import org.jspecify.annotations.NullMarked;
