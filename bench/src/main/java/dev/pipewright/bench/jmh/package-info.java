/**
 * Micro-benchmarks for JMH. {@code org.openjdk.jmh.Main} runs them; classes are called {@code
 * …Benchmark}.
 */
@NullMarked
package dev.pipewright.bench.jmh;

import org.jspecify.annotations.NullMarked;
