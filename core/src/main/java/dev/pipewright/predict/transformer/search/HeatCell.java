package dev.pipewright.predict.transformer.search;

import java.util.Optional;

/**
 * The fastest layout with such degrees.
 *
 * @param best empty where no layout is valid and fits
 */
public record HeatCell(int tensor, int pipeline, Optional<RankedLayout> best) {}
