package dev.pipewright.bench.serve;

import dev.pipewright.formats.export.ExportCatalog;
import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * A kind of request that users make.
 *
 * @param share of {@link #deck}
 * @param status that its response has
 * @param maker of the request; the number differs from request to request
 */
record RequestKind(String name, int share, int status, Maker maker) {
  private static final int SEED = 1;
  private static final int OK = 200;
  private static final int SEE_OTHER = 303;

  private static final List<String> ASSETS =
      List.of(
          "report.css",
          "site.css",
          "answer.js",
          "charts.js",
          "units.js",
          "icon.svg",
          "study.js",
          "echarts.esm.min.js");

  private static final List<String> TARGETS = ExportCatalog.names();

  private static final String UPLOAD =
      """
      --mark\r
      Content-Disposition: form-data; name="file"; filename="schedule.csv"\r
      \r
      0F0,0F1,0B0,0B1
      1F0,1B0,1F1,1B1
      \r
      --mark--\r
      """;

  /** Makes a request. */
  interface Maker {
    HttpRequest make(LoadedSite site, int turn);
  }

  /** A new question; it is asked now and then, and not part of the deck. */
  static final RequestKind STUDY =
      new RequestKind(
          "new study",
          0,
          SEE_OTHER,
          (site, turn) -> site.question("bert-48", "dapple-a", 96 + 8 * turn));

  static final List<RequestKind> PAGES =
      List.of(
          page("form", 4, "/"),
          new RequestKind("answer", 6, OK, (site, turn) -> site.get(site.study(turn))),
          file("answer.json", 4, "/answer.json"),
          file("timeline.svg", 5, "/timeline.svg"),
          page("history", 4, "/history"),
          page("search of the history", 3, "/history?word=bert"),
          new RequestKind(
              "comparison", 2, OK, (site, turn) -> site.get("/compare?" + pair(site, turn))),
          new RequestKind(
              "picture of a comparison",
              1,
              OK,
              (site, turn) -> site.get("/compare/picture.svg?" + pair(site, turn))),
          new RequestKind(
              "export",
              2,
              OK,
              (site, turn) ->
                  site.get(
                      site.study(turn)
                          + "/export?nearest=on&to="
                          + TARGETS.get(turn / 4 % TARGETS.size()))),
          new RequestKind(
              "inspection of a file",
              2,
              SEE_OTHER,
              (site, turn) -> site.post("/inspect", "multipart/form-data; boundary=mark", UPLOAD)),
          new RequestKind(
              "asset",
              7,
              OK,
              (site, turn) -> site.get("/assets/" + ASSETS.get(turn % ASSETS.size()))));

  private static RequestKind page(String name, int share, String path) {
    return new RequestKind(name, share, OK, (site, turn) -> site.get(path));
  }

  private static RequestKind file(String name, int share, String path) {
    return new RequestKind(name, share, OK, (site, turn) -> site.get(site.study(turn) + path));
  }

  private static String pair(LoadedSite site, int turn) {
    return "study=%s&study=%s"
        .formatted(
            site.study(turn).replace("/study/", ""), site.study(turn + 1).replace("/study/", ""));
  }

  /** All pages, each as often as its share, in an order that is always the same. */
  static List<RequestKind> deck() {
    List<RequestKind> deck = new ArrayList<>();
    PAGES.forEach(kind -> deck.addAll(Collections.nCopies(kind.share(), kind)));
    Collections.shuffle(deck, new Random(SEED));
    return deck;
  }
}
