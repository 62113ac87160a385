/**
 * A study's plan searched again where the cluster, the batch or the price is a little different.
 */
@NullMarked
package dev.pipewright.server.whatif;

import org.jspecify.annotations.NullMarked;
