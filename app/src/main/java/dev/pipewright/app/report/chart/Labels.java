package dev.pipewright.app.report.chart;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Finds room for words next to points: off other words, and off lines and points if possible. Each
 * word in turn takes the cheapest place that is left; of several random orders, always the same
 * ones, the cheapest wins.
 */
public final class Labels {
  private static final double HEIGHT = 14;
  private static final double[] DISTANCES = {9, 16, 26, 38, 52, 70, 90, 115, 145};
  private static final int DIRECTIONS = 16;
  private static final int ORDERS = 40;
  private static final double OVERLAP = 1_000; // a pixel of distance is 1
  private static final double POINT = 60;
  private static final double LINE = 14;
  private static final double NEARER = 75; // to the point of another word than to its own
  private static final double ASIDE = 3; // not exactly to the right
  private static final double ROW = 15; // of labels

  private final Box area;
  private final List<Obstacle> obstacles = new ArrayList<>();

  private record Obstacle(Box box, double cost) {}

  private record Place(Box box, double cost) {}

  /** Places of all words, and what they cost together. */
  private record Attempt(List<Box> boxes, double cost) {}

  /** Words of some width for a point. */
  public record Wish(double x, double y, double width) {
    public double distance(Box box) {
      return Math.hypot(across(box), Math.max(0, Math.max(box.top - y, y - box.bottom)));
    }

    private double across(Box box) {
      return Math.max(0, Math.max(box.left - x, x - box.right));
    }

    /** How far the words seem to be, which readers see as a line. */
    private double apparent(Box box) {
      return Math.hypot(across(box), y - (box.top + box.bottom) / 2);
    }
  }

  /** A rectangle of pixels. */
  public record Box(double left, double top, double right, double bottom) {
    boolean overlaps(Box that) {
      return Math.min(right, that.right) > Math.max(left, that.left)
          && Math.min(bottom, that.bottom) > Math.max(top, that.top);
    }

    static Box around(double x, double y, double radius) {
      return new Box(x - radius, y - radius, x + radius, y + radius);
    }
  }

  /** Words stay within {@code area}. */
  public Labels(Box area) {
    this.area = area;
  }

  /** Words had better not cover the mark at a point. */
  public void avoidPoint(double x, double y) {
    obstacles.add(new Obstacle(Box.around(x, y, 6.5), POINT));
  }

  /** Words had better not cover the line between two points. */
  public void avoidLine(double x1, double y1, double x2, double y2) {
    int steps = (int) Math.max(1, Math.hypot(x2 - x1, y2 - y1) / 5);
    for (int i = 0; i <= steps; i++) {
      Box box = Box.around(x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps, 1.5);
      obstacles.add(new Obstacle(box, LINE));
    }
  }

  /** A place for each wish. */
  public List<Box> place(List<Wish> wishes) {
    List<List<Place>> places = new ArrayList<>();
    List<Integer> order = new ArrayList<>();
    for (Wish wish : wishes) {
      order.add(places.size());
      places.add(places(wish, wishes));
    }
    Random random = new Random(1);
    Attempt best = attempt(places, order);
    for (int i = 1; i < ORDERS; i++) {
      Collections.shuffle(order, random);
      Attempt attempt = attempt(places, order);
      best = attempt.cost < best.cost ? attempt : best;
    }
    return best.boxes;
  }

  private static Attempt attempt(List<List<Place>> places, List<Integer> order) {
    List<Box> taken = new ArrayList<>();
    List<Box> boxes = new ArrayList<>(Collections.nCopies(order.size(), Box.around(0, 0, 0)));
    double total = 0;
    for (int wish : order) {
      Box best = places.get(wish).getFirst().box;
      double least = Double.POSITIVE_INFINITY;
      for (Place place : places.get(wish)) {
        double cost = place.cost + OVERLAP * taken.stream().filter(place.box::overlaps).count();
        if (cost < least) {
          least = cost;
          best = place.box;
        }
      }
      taken.add(best);
      boxes.set(wish, best);
      total += least;
    }
    return new Attempt(boxes, total);
  }

  private List<Place> places(Wish wish, List<Wish> all) {
    List<Place> places = new ArrayList<>();
    for (double distance : DISTANCES) {
      for (int direction = 0; direction < DIRECTIONS; direction++) {
        Box box = beside(wish, distance, 2 * Math.PI * direction / DIRECTIONS);
        double aside = direction == 0 ? 0 : ASIDE;
        places.add(new Place(box, distance + aside + cost(box, wish, all)));
      }
    }
    return places;
  }

  /** A box whose nearest edge is about {@code distance} away in a direction, 0 to the right. */
  private Box beside(Wish wish, double distance, double angle) {
    double middle = wish.x + Math.cos(angle) * (distance + wish.width / 2);
    double height = wish.y - Math.sin(angle) * (distance + HEIGHT / 2);
    double left = Math.max(area.left, Math.min(area.right - wish.width, middle - wish.width / 2));
    double top = Math.max(area.top, Math.min(area.bottom - HEIGHT, height - HEIGHT / 2));
    return new Box(left, top, left + wish.width, top + HEIGHT);
  }

  private double cost(Box box, Wish own, List<Wish> all) {
    double cost = 0;
    for (Wish other : all) {
      cost += other.apparent(box) < own.apparent(box) - 0.5 ? NEARER : 0;
    }
    for (Obstacle obstacle : obstacles) {
      cost += box.overlaps(obstacle.box) ? obstacle.cost : 0;
    }
    return cost;
  }

  /** Heights as near to the wanted ones, which are in order, as rows of letters can be. */
  public static double[] spread(double[] wanted, double top, double bottom) {
    double[] rows = wanted.clone();
    double row = Math.min(ROW, (bottom - top) / Math.max(1, rows.length - 1));
    for (int i = 0; i < rows.length; i++) {
      rows[i] = Math.max(i == 0 ? top : rows[i - 1] + row, rows[i]);
    }
    for (int i = rows.length - 1; i >= 0; i--) {
      rows[i] = Math.min(i == rows.length - 1 ? bottom : rows[i + 1] - row, rows[i]);
    }
    return rows;
  }
}
