package dev.pipewright.schedule.catalog;

/** A schedule cannot be made for a parameter's value; the message names a value that would do. */
public final class UnsuitableException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  /** The parameters of {@link ScheduleInput} that a schedule may refuse. */
  public enum Parameter {
    MICRO_BATCHES,
    CHUNKS
  }

  private final Parameter parameter;

  UnsuitableException(Parameter parameter, String message) {
    super(message);
    this.parameter = parameter;
  }

  public Parameter parameter() {
    return parameter;
  }
}
