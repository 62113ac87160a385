/**
 * Stage construction by the inter-operator dynamic program: which layers become a stage and on
 * which part of the machines, where every stage's time on every part is known.
 */
@NullMarked
package dev.pipewright.planner.alpa;

import org.jspecify.annotations.NullMarked;
