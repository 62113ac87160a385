package dev.pipewright.runtime.checkpoint;

/** The names under which a checkpoint holds what the optimizer remembers of parameters. */
public final class StateNames {
  private static final String MOMENT = "/moment-"; // no name in a module tree has a slash

  private StateNames() {}

  /**
   * The name of what the update rule remembers of a parameter.
   *
   * @param number from 1
   */
  public static String moment(String parameter, int number) {
    return parameter + MOMENT + (number - 1);
  }

  /** Whether a tensor is of the optimizer instead of the network. */
  public static boolean isMoment(String name) {
    return name.contains(MOMENT);
  }
}
