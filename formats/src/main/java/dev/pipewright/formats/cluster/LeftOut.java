package dev.pipewright.formats.cluster;

/**
 * A line of measurements that is not fitted.
 *
 * @param line where it stands, from 1; of a table or a run the first line that shows the reason
 * @param why what is wrong with it, for people
 * @param remedy what would be right; said where nothing else is left
 */
public record LeftOut(int line, String why, String remedy) {}
