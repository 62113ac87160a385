/**
 * Published tables and figures computed again, and micro-benchmarks. {@link
 * dev.pipewright.bench.Reproduce} runs the reproductions by name; classes called {@code …Benchmark}
 * are for JMH.
 */
@NullMarked
package dev.pipewright.bench;

import org.jspecify.annotations.NullMarked;
