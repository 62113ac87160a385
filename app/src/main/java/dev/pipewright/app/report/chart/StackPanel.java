package dev.pipewright.app.report.chart;

import java.util.List;

/**
 * The bars of one strategy, device count by device count.
 *
 * @param note what to read in a panel that has no bar; else empty
 */
public record StackPanel(String title, List<Stack> stacks, String note) {
  public StackPanel {
    stacks = List.copyOf(stacks);
  }
}
