package dev.pipewright.planner;

/**
 * How far {@link EqualPipelines} searches.
 *
 * @param grids that are priced with other schedules, too, by each promise
 * @param searched those of them that are priced with schedules made for durations
 * @param decided pipelines among which the simulator decides
 * @param improved the best of them, whose cuts are moved
 * @param moves plans that are priced for each of these
 */
record SearchEffort(int grids, int searched, int decided, int improved, int moves) {}
