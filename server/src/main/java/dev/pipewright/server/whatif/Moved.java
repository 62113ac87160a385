package dev.pipewright.server.whatif;

import dev.pipewright.app.report.text.Table;
import java.util.List;

/**
 * What is best where sliders have been moved.
 *
 * @param sentence the answer in a sentence
 * @param figures of the study and of the new plan
 * @param peaks bytes that a device of each stage holds at its peak; none where nothing fits
 * @param capacity bytes of a device; 0 where nothing fits
 * @param search how much was tried, in words
 */
public record Moved(
    String sentence, Table figures, List<Double> peaks, double capacity, String search) {
  public Moved {
    peaks = List.copyOf(peaks);
  }

  /** The peaks, for scripts. */
  public String peaksJson() {
    return peaks.toString();
  }
}
