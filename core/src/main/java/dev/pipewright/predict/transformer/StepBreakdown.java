package dev.pipewright.predict.transformer;

/**
 * A step by phase and the bytes of the pipeline rank that needs most.
 *
 * @param rank which rank that is, from 0; the first of several
 */
public record StepBreakdown(TransformerPhases phases, int rank, TransformerRankBytes bytes) {}
