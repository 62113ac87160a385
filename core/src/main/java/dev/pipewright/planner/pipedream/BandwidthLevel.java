package dev.pipewright.planner.pipedream;

import dev.pipewright.units.Check;

/**
 * One level of PipeDream's hierarchy, innermost first: so many units of the level below (at the
 * innermost level: devices) joined by links of one rate.
 *
 * <p>Source: D. Narayanan et al., <i>PipeDream: Generalized Pipeline Parallelism for DNN
 * Training</i>, SOSP 2019, §3.1: its m_k and B_k.
 *
 * @param units of the level below in one unit of this level
 * @param bytesPerSecond between two of them
 */
public record BandwidthLevel(int units, double bytesPerSecond) {
  public BandwidthLevel {
    Check.that(units >= 1, "a level joins units: units=%d", units);
    Check.positive(bytesPerSecond, "bytes per second");
  }
}
