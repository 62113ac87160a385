package dev.pipewright.app.cli.terminal;

import java.util.List;

/** A command whose help also lists what a catalogue holds. */
public interface MoreHelp {
  /** Lines between the options and the footer. */
  List<String> moreHelp();
}
