package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sliders without a browser. */
class WhatIfTest {
  @TempDir static Path folder;
  private static SiteUnderTest site;
  private static String id;

  @BeforeAll
  static void open() throws Exception {
    site = new SiteUnderTest(folder.resolve("data"));
    id =
        site.study(Map.of("model", "bert-48", "cluster", "dapple-a", "batch", "64", "limit", "9"))
            .replace("/study/", "");
  }

  @AfterAll
  static void close() {
    site.close();
  }

  private static String moved(String query) throws Exception {
    HttpResponse<String> response = site.get("/what-if/moved?study=" + id + query);
    assertEquals(200, response.statusCode(), response.body());
    return response.body();
  }

  /** The cell of a row of the table. */
  private static String cell(String page, String figure, String column) {
    Matcher row =
        Pattern.compile("(?s)data-label=\"figure\">" + Pattern.quote(figure) + "</td>(.*?)</tr>")
            .matcher(page);
    assertTrue(row.find(), figure + " is not in " + page);
    Matcher cell =
        Pattern.compile("data-label=\"" + column + "\">([^<]*)</td>").matcher(row.group(1));
    assertTrue(cell.find(), row.group(1));
    return cell.group(1);
  }

  @Test
  void whereNothingIsMovedThePlanIsTheStudys() throws Exception {
    String page = site.get("/what-if?study=" + id).body();
    assertTrue(page.contains("A step takes as long as in the study, with the same plan."), page);
    assertEquals(cell(page, "step time", "study"), cell(page, "step time", "now"));
    assertEquals(cell(page, "peak memory", "study"), cell(page, "peak memory", "now"));
  }

  @Test
  void fewerDevicesTakeLonger() throws Exception {
    String page = moved("&devices=0");
    assertEquals("1", cell(page, "devices", "now"));
    assertTrue(cell(page, "step time", "change").startsWith("+"), page);
    assertFalse(page.contains("<html"), page);
  }

  @Test
  void slowerLinksNeverHelpAndFasterOnesNeverHurt() throws Exception {
    assertFalse(cell(moved("&bandwidth=0"), "step time", "change").startsWith("−"));
    assertFalse(cell(moved("&bandwidth=8"), "step time", "change").startsWith("+"));
    assertFalse(cell(moved("&latency=8"), "step time", "change").startsWith("−"));
  }

  @Test
  void aStragglerMakesStepsLonger() throws Exception {
    assertTrue(cell(moved("&straggler=7"), "step time", "change").startsWith("+"));
  }

  @Test
  void microBatchesAreAsManyAsTheSliderSays() throws Exception {
    assertTrue(cell(moved("&microbatches=4"), "micro-batches", "now").startsWith("8 of 8"));
  }

  @Test
  void aPriceIsThatOfAllDevices() throws Exception {
    String page = moved("&price=4");
    double step = Double.parseDouble(cell(page, "device-seconds of a step", "now"));
    double price = Double.parseDouble(cell(page, "price of a step", "now"));
    assertEquals(1.5 * step / 3600, price, 0.01 * price);
  }

  @Test
  void whatDoesNotFitIsSaid() throws Exception {
    String page = moved("&devices=0&memory=0");
    assertTrue(page.contains("Nothing fits that is near"), page);
    assertEquals("–", cell(page, "step time", "now"));
  }

  @Test
  void whatIsNoPositionIsTheStudys() throws Exception {
    assertEquals(
        cell(moved(""), "step time", "now"),
        cell(moved("&devices=x&memory=%3Cscript%3E&price="), "step time", "now"));
    assertEquals("32", cell(moved("&devices=99999"), "devices", "now"));
  }

  @Test
  void studiesWithoutAPlanAreRefused() throws Exception {
    HttpResponse<String> response = site.get("/what-if?study=%3Cb%3E");
    assertEquals(422, response.statusCode());
    assertTrue(response.body().contains("studies: one has no plan"), response.body());
    assertFalse(response.body().contains("<b>"), response.body());
    assertEquals(422, site.get("/what-if/moved?study=x").statusCode());
    assertTrue(site.get("/what-if").body().contains("/what-if?study=" + id));
  }
}
