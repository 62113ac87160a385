/**
 * Published tables and figures computed again, and micro-benchmarks. {@link
 * dev.pipewright.bench.Reproduce} runs the reproductions by name. Each sub-package holds those of
 * one subject.
 */
@NullMarked
package dev.pipewright.bench;

import org.jspecify.annotations.NullMarked;
