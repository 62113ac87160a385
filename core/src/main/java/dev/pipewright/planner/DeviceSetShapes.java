package dev.pipewright.planner;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Numbers for shapes of device sets, in the order in which they are met. */
final class DeviceSetShapes {
  private final List<int[]> shapes = new ArrayList<>();
  private final Map<Shape, Integer> numbers = new HashMap<>();

  private record Shape(int[] triples) {
    @Override
    public boolean equals(Object that) {
      return that instanceof Shape other && Arrays.equals(triples, other.triples);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(triples);
    }
  }

  int number(int[] shape) {
    Shape key = new Shape(shape);
    Integer known = numbers.get(key);
    if (known == null) {
      known = shapes.size();
      numbers.put(key, known);
      shapes.add(shape);
    }
    return known;
  }

  int[] get(int number) {
    return shapes.get(number);
  }
}
