package dev.pipewright.app.report.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.plan.Picture;
import dev.pipewright.app.report.plan.Pipelines;
import dev.pipewright.trace.Timeline;
import java.io.StringReader;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class TimelineSvgTest {
  private static Runs runs(Picture picture) {
    return Runs.of(picture.title(), picture.timeline().orElseThrow());
  }

  private static String svg(Picture picture) {
    return TimelineSvg.of("", runs(picture));
  }

  @Test
  void drawsEverySliceOnce() throws Exception {
    for (int[] shape : new int[][] {{2, 4}, {4, 8}, {16, 64}}) {
      Picture picture = Pipelines.picture("all slices", shape[0], shape[1]);
      NodeList tips = parse(svg(picture)).getElementsByTagName("title");
      assertEquals(1 + runs(picture).slices(), tips.getLength());
    }
  }

  @Test
  void mergesSlicesThatAreTooThinToSee() throws Exception {
    Timeline timeline = Pipelines.timeline(16, 1_000, 0.010, 0.020, 0.003, 0.025);
    String svg = TimelineSvg.of("", Runs.of("dense", timeline));
    parse(svg);
    assertTrue(svg.length() < 1_000_000, "characters: " + svg.length());
  }

  @Test
  void isModestInSize() {
    int size = svg(Pipelines.picture("size", 16, 64)).length();
    assertTrue(size < 1_000_000, "characters: " + size);
  }

  @Test
  void keepsTextAndShapesInsideThePicture() throws Exception {
    for (int[] shape : new int[][] {{1, 1}, {2, 4}, {16, 64}, {64, 64}}) {
      String title = "a title that goes on ".repeat(12);
      Element svg = parse(svg(Pipelines.picture(title, shape[0], shape[1]))).getDocumentElement();
      String[] box = svg.getAttribute("viewBox").split(" ", -1);
      double width = Double.parseDouble(box[2]);
      double height = Double.parseDouble(box[3]);
      NodeList texts = svg.getElementsByTagName("text");
      for (int i = 0; i < texts.getLength(); i++) {
        inside((Element) texts.item(i), width, height);
      }
      NodeList rects = svg.getElementsByTagName("rect");
      for (int i = 1; i < rects.getLength(); i++) { // the first is the background
        Element rect = (Element) rects.item(i);
        assertTrue(number(rect, "x") + number(rect, "width") <= width);
        assertTrue(number(rect, "y") + number(rect, "height") <= height);
      }
    }
  }

  @Test
  void labelsOfStagesDoNotTouch() throws Exception {
    Document svg = parse(svg(Pipelines.picture("labels", 64, 8)));
    NodeList texts = svg.getElementsByTagName("text");
    double before = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < texts.getLength(); i++) {
      Element text = (Element) texts.item(i);
      if (text.getTextContent().startsWith("stage ")) {
        double y = number(text, "y");
        assertTrue(y - before >= 12, text.getTextContent());
        before = y;
      }
    }
  }

  @Test
  void escapesNames() throws Exception {
    String name = "<b> & \"quotes\" ' </script>\u0001";
    Document svg = parse(svg(Pipelines.picture(name, 2, 4)));
    String title = svg.getElementsByTagName("title").item(0).getTextContent();
    assertEquals("<b> & \"quotes\" ' </script> ", title);
  }

  /** With letters of 0.62 times the font's size, which is wide. */
  private static void inside(Element text, double width, double height) {
    double size = Double.parseDouble(inherited(text, "font-size"));
    double length = 0.62 * size * text.getTextContent().length();
    String anchor = inherited(text, "text-anchor");
    double x = number(text, "x");
    double left = anchor.equals("end") ? x - length : anchor.equals("middle") ? x - length / 2 : x;
    assertTrue(left >= 0 && left + length <= width, text.getTextContent() + " at " + left);
    double y = number(text, "y");
    assertTrue(y - size >= 0 && y + 0.3 * size <= height, text.getTextContent() + " at y " + y);
  }

  private static String inherited(Element element, String name) {
    String own = element.getAttribute(name);
    return own.isEmpty() && element.getParentNode() instanceof Element parent
        ? inherited(parent, name)
        : own;
  }

  private static double number(Element element, String name) {
    return Double.parseDouble(element.getAttribute(name));
  }

  private static Document parse(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)));
  }
}
