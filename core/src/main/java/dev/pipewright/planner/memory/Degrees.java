package dev.pipewright.planner.memory;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * How the devices of a stage share its work: in {@code data} groups that take different samples, of
 * {@code tensor} devices each that divide the layers.
 */
public record Degrees(int data, int tensor) {
  public Degrees {
    Check.that(data >= 1 && tensor >= 1, "degrees must be >= 1: data=%d, tensor=%d", data, tensor);
  }

  public int devices() {
    return data * tensor;
  }

  /** {@code data}, {@code tensor}, {@code data+tensor}; {@code one device}. */
  public String kind() {
    if (devices() == 1) {
      return "one device";
    }
    return tensor == 1 ? "data" : data == 1 ? "tensor" : "data+tensor";
  }

  /** All on up to so many devices: tensors are divided by powers of two. */
  static List<Degrees> all(int devices, int mostData, int mostTensor) {
    List<Degrees> all = new ArrayList<>();
    for (int count = 1; count <= devices; count++) {
      for (int tensor = 1; tensor <= Math.min(count, mostTensor); tensor *= 2) {
        if (count % tensor == 0 && count / tensor <= mostData) {
          all.add(new Degrees(count / tensor, tensor));
        }
      }
    }
    return all;
  }
}
