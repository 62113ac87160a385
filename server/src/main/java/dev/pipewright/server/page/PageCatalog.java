package dev.pipewright.server.page;

import dev.pipewright.server.store.StudyStore;
import dev.pipewright.server.study.StudyQueue;
import dev.pipewright.server.web.Assets;
import dev.pipewright.server.web.Page;
import dev.pipewright.server.web.Sessions;
import dev.pipewright.server.web.Templates;
import java.util.List;

/** All pages: a new one is a class, a template and a line here. */
public final class PageCatalog {
  private PageCatalog() {}

  /** In the order of the navigation. */
  public static List<Page> all(
      Templates templates, Sessions sessions, StudyQueue queue, StudyStore store) {
    return List.of(
        new StudyPage(templates, queue),
        new ExportPage(templates, store), // before the files of answers
        new AnswerPage(templates, queue, store),
        new InspectPage(templates),
        new ComparePage(templates, store),
        new WhatIfPage(templates, store),
        new HistoryPage(templates, store),
        new LoginPage(templates, sessions),
        new Assets());
  }
}
