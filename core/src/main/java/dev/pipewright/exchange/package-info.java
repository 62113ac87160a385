/**
 * Who sends what to whom, as it follows from the order of work and from how stages are shared:
 * tensor-parallel exchanges, states of ZeRO, sums of gradients, moving owners, tied tables.
 */
@NullMarked
package dev.pipewright.exchange;

import org.jspecify.annotations.NullMarked;
