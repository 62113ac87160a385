package dev.pipewright.predict.pipeline;

import dev.pipewright.predict.transformer.PredictedRun;
import dev.pipewright.predict.transformer.search.SearchedLayout;

/**
 * A layout under a schedule.
 *
 * @param searched with the chunks that the schedule has
 * @param schedule its name in the catalogue
 * @param seconds of a step
 */
public record ScheduledLayout(
    SearchedLayout searched, String schedule, PredictedRun run, double seconds) {}
