package dev.pipewright.planner.placement;

/**
 * No placement's largest load is below {@code value}.
 *
 * @param why in words
 */
public record Bound(double value, String why) {}
