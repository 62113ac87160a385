package dev.pipewright.cluster;

/**
 * One level of the hierarchy: what joins the groups of the level below (at the innermost level: the
 * devices).
 *
 * @param name what one group of this level is called: {@code node}, {@code rack}, {@code cluster}
 * @param pointToPoint what one port achieves between two groups of the level below
 * @param collective what a ring through all members achieves per member (NCCL's bus bandwidth)
 */
public record Level(String name, Link pointToPoint, Link collective) {}
