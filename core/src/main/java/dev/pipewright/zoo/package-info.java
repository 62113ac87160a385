/** Networks and clusters that ship with Pipewright, built from their published shapes. */
@NullMarked
package dev.pipewright.zoo;

import org.jspecify.annotations.NullMarked;
