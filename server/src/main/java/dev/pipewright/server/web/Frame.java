package dev.pipewright.server.web;

import java.util.List;

/**
 * What surrounds the content of each page.
 *
 * @param title of the browser's window
 * @param entries of the navigation
 * @param path of the current entry; empty where it is none
 */
public record Frame(String title, List<Page.Entry> entries, String path) {
  public Frame {
    entries = List.copyOf(entries);
  }
}
