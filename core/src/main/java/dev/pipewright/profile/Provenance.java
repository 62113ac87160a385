package dev.pipewright.profile;

/**
 * Where numbers come from; printed with every result that uses them.
 *
 * @param source a file, or the formula that derived them
 * @param device what they were measured on or derived for
 * @param date ISO date of the measurement; empty where the source does not say
 * @param measured whether they were measured; otherwise they follow from a formula
 */
public record Provenance(String source, String device, String date, boolean measured) {
  @Override
  public String toString() {
    String when = date.isEmpty() ? "" : ", " + date;
    return (measured ? "measured: " : "derived: ") + source + ", " + device + when;
  }
}
