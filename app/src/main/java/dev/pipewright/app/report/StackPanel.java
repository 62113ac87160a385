package dev.pipewright.app.report;

import java.util.List;

/**
 * The bars of one strategy, device count by device count.
 *
 * @param note what to read in a panel that has no bar; else empty
 */
record StackPanel(String title, List<Stack> stacks, String note) {
  StackPanel {
    stacks = List.copyOf(stacks);
  }
}
