package dev.pipewright.planner.placement;

import java.util.Locale;

/** Sentences about placements. */
final class PlacementWords {
  private PlacementWords() {}

  /** What keeps the busiest device busy. */
  static String binding(OperatorPlacement placement) {
    int busiest = placement.busiest();
    OperatorPlacement.Device device = placement.devices().get(busiest);
    String held =
        "device %d of %d, %s, holds %s: %s of computing"
            .formatted(
                busiest,
                placement.devices().size(),
                device.processor() ? "a processor" : "an accelerator",
                count(device.operators().size(), "operator"),
                number(device.compute()));
    return device.processor()
        ? held
        : held
            + " and %s for %s that it sends or receives"
                .formatted(number(device.transfers()), count(device.transferred(), "output"));
  }

  private static String count(int number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.6g", value);
  }
}
