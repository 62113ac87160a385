/**
 * ParaDL (HPDC 2021): measured iterations, the authors' program, and the constants of their machine
 * that fit them. {@code PredictScaling} times studies of all strategies.
 */
@NullMarked
package dev.pipewright.bench.paradl;

import org.jspecify.annotations.NullMarked;
