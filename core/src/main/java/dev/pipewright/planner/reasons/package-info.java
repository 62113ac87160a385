/**
 * Why a plan was chosen: what its step consists of, and what the same parts are for the plans that
 * people would write down by hand.
 */
@org.jspecify.annotations.NullMarked
package dev.pipewright.planner.reasons;
