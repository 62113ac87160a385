/**
 * What all reproductions share: {@link dev.pipewright.bench.reproduction.Reproduction} has a name
 * and makes a {@link dev.pipewright.bench.reproduction.Report} in Markdown. {@link
 * dev.pipewright.bench.reproduction.Reference} reads what others measured.
 */
@NullMarked
package dev.pipewright.bench.reproduction;

import org.jspecify.annotations.NullMarked;
