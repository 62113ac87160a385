package dev.pipewright.app.report.chart;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.text.Numbers;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** Reads back pictures and checks where their parts are. */
public final class SvgReader {
  private static final Pattern TURN = Pattern.compile("rotate\\(-90 ([0-9.]+) ([0-9.]+)\\)");
  private static final Pattern POINT = Pattern.compile("[ML]([-0-9.]+) ([-0-9.]+)");

  private SvgReader() {}

  public static Element parse(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)))
        .getDocumentElement();
  }

  public static List<Element> all(Element root, String name) {
    NodeList nodes = root.getElementsByTagName(name);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < nodes.getLength(); i++) {
      elements.add((Element) nodes.item(i));
    }
    return elements;
  }

  public static List<String> texts(Element root) {
    return all(root, "text").stream().map(Element::getTextContent).toList();
  }

  /** What places say under the pointer. */
  public static List<String> tips(Element root) {
    return all(root, "title").stream().map(Element::getTextContent).toList();
  }

  public static double number(Element element, String name) {
    return Double.parseDouble(element.getAttribute(name));
  }

  /** Left, top, right, bottom of words whose letters are 0.62 times the font's size wide. */
  public static double[] box(Element text) {
    double size = number(text, "font-size");
    double length = 0.62 * size * text.getTextContent().length();
    double x = number(text, "x");
    double y = number(text, "y");
    Matcher turn = TURN.matcher(text.getAttribute("transform"));
    if (turn.matches()) {
      return new double[] {x - size, y - length, x + 0.3 * size, y};
    }
    double left =
        switch (text.getAttribute("text-anchor")) {
          case "end" -> x - length;
          case "middle" -> x - length / 2;
          default -> x;
        };
    return new double[] {left, y - size, left + length, y + 0.3 * size};
  }

  public static void assertInside(String svg) throws Exception {
    Element root = parse(svg);
    double width = number(root, "width");
    double height = number(root, "height");
    assertTrue(root.getAttribute("viewBox").endsWith(" " + trim(width) + " " + trim(height)));
    for (Element text : all(root, "text")) {
      double[] box = box(text);
      boolean inside = box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height;
      assertTrue(inside, text.getTextContent() + " at " + List.of(box[0], box[1], box[2], box[3]));
    }
    for (Element rect : all(root, "rect")) {
      if (rect.getAttribute("width").endsWith("%")) {
        continue; // the background
      }
      assertTrue(number(rect, "x") >= 0 && number(rect, "y") >= 0);
      assertTrue(number(rect, "x") + number(rect, "width") <= width + 0.01);
      assertTrue(number(rect, "y") + number(rect, "height") <= height + 0.01);
    }
    for (Element path : all(root, "path")) {
      Matcher point = POINT.matcher(path.getAttribute("d"));
      while (point.find()) {
        double x = Double.parseDouble(point.group(1));
        double y = Double.parseDouble(point.group(2));
        assertTrue(x >= 0 && x <= width && y >= 0 && y <= height, path.getAttribute("d"));
      }
    }
  }

  private static String trim(double value) {
    StringBuilder text = new StringBuilder();
    Numbers.appendShort(text, value);
    return text.toString();
  }
}
