package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.Labels;
import dev.pipewright.app.report.chart.Labels.Box;
import dev.pipewright.app.report.chart.Labels.Wish;
import dev.pipewright.app.report.chart.StackDrawing;
import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import java.util.List;

/**
 * A strategy's name near its point, tied to it by a line and its colour where it is not next to it.
 */
final class PointLabel {
  private static final double NEXT = 16;
  private static final double GAP = 5; // to other names
  private static final double BOLD = 1.14; // times as wide, in which names away from points are

  private PointLabel() {}

  /** Room for the name of a point. */
  static Wish wish(Predicted point, double x, double y) {
    return new Wish(x, y, BOLD * StackDrawing.width(point.strategy().label(), 12) + GAP);
  }

  /** The names of all of {@code points}, which have {@code wishes}. */
  static void draw(Svg svg, List<Predicted> points, List<Wish> wishes, Labels labels) {
    List<Box> boxes = labels.place(wishes);
    for (int i = 0; i < boxes.size(); i++) {
      draw(svg, points.get(i), wishes.get(i), boxes.get(i));
    }
  }

  /** The name at {@code box}. */
  private static void draw(Svg svg, Predicted point, Wish wish, Box box) {
    double x = wish.x();
    double y = wish.y();
    double nearX = Math.max(box.left(), Math.min(box.right(), x));
    double nearY = Math.max(box.top() + 2, Math.min(box.bottom() - 2, y));
    double distance = wish.distance(box);
    String paint = "class=\"ink\"";
    svg.open("class=\"" + StudyMark.style(point.strategy()) + '"');
    if (distance > NEXT) {
      double start = 6 / distance;
      paint = "fill=\"currentColor\" font-weight=\"600\"";
      svg.line(
          x + (nearX - x) * start,
          y + (nearY - y) * start,
          nearX,
          nearY,
          "stroke=\"currentColor\"");
    }
    double middle = (box.left() + box.right()) / 2;
    String style = "font-size=\"12\" text-anchor=\"middle\" " + paint;
    svg.text(middle, box.bottom() - 3, style, point.strategy().label());
    svg.close();
  }
}
