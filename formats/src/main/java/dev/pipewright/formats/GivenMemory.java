package dev.pipewright.formats;

import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * The memory of its devices that a plan was made for.
 *
 * @param bytes of every device, where it is not the cluster's
 * @param reserve share of what a process can use that the plan left free
 */
public record GivenMemory(OptionalLong bytes, OptionalDouble reserve) {
  public static final GivenMemory NONE =
      new GivenMemory(OptionalLong.empty(), OptionalDouble.empty());
}
