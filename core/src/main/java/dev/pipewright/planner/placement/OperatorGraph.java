package dev.pipewright.planner.placement;

import dev.pipewright.units.Check;
import java.util.List;
import java.util.OptionalLong;

/**
 * A network of operators, or of layers, for one step of inference or training, and the devices that
 * they are to be placed on: some accelerators, all alike, and some processors of the host.
 *
 * <p>Source: J. Tarnawski et al., <i>Efficient Algorithms for Device Placement of DNN Graph
 * Operators</i>, NeurIPS 2020, arXiv:2006.16423, §3 and the input files of its authors' program.
 * Times are in any one unit; so are loads, then.
 */
public final class OperatorGraph {
  /**
   * An operator.
   *
   * @param id in its file
   * @param onAccelerator whether an accelerator can run it
   * @param processorTime on a processor of the host
   * @param acceleratorTime on an accelerator
   * @param transferTime of its output between an accelerator and the host's memory
   * @param bytes that it takes of an accelerator's memory
   * @param backward whether it belongs to the backward pass
   * @param colour operators of one colour share a device
   */
  public record Operator(
      long id,
      String name,
      boolean onAccelerator,
      double processorTime,
      double acceleratorTime,
      double transferTime,
      double bytes,
      boolean backward,
      OptionalLong colour) {
    public Operator {
      Check.amount(processorTime, "processor time");
      Check.amount(acceleratorTime, "accelerator time");
      Check.amount(transferTime, "transfer time");
      Check.amount(bytes, "bytes");
    }
  }

  /** Operator {@code to} reads the output of operator {@code from}: places in the list. */
  public record Edge(int from, int to) {}

  /**
   * What there is to run on.
   *
   * @param accelerators that there are at most
   * @param processors of the host that there are at most; their memory is not limited
   * @param acceleratorBytes of memory of each accelerator
   */
  public record Devices(int accelerators, int processors, double acceleratorBytes) {
    public Devices {
      Check.that(accelerators >= 0, "a number of accelerators: accelerators=%d", accelerators);
      Check.that(processors >= 0, "a number of processors: processors=%d", processors);
      Check.that(acceleratorBytes >= 0, "memory in bytes: bytes=%s", acceleratorBytes);
      Check.that(
          accelerators + (long) processors >= 1 && accelerators + (long) processors <= MOST_DEVICES,
          "1 to %d devices: accelerators=%d, processors=%d",
          MOST_DEVICES,
          accelerators,
          processors);
    }
  }

  /** More are not planned for. */
  public static final int MOST_DEVICES = 4096;

  private final String name;
  private final Devices devices;
  private final List<Operator> operators;
  private final List<Edge> edges;

  /** Throws where an edge leads nowhere, from the backward to the forward pass, or in a circle. */
  public OperatorGraph(String name, Devices devices, List<Operator> operators, List<Edge> edges) {
    Check.that(!operators.isEmpty(), "a network has operators: name=%s", name);
    this.name = name;
    this.devices = devices;
    this.operators = List.copyOf(operators);
    this.edges = List.copyOf(edges);
    for (Edge edge : edges) {
      int most = Math.max(edge.from, edge.to);
      Check.that(
          Math.min(edge.from, edge.to) >= 0 && most < operators.size(),
          "an edge joins operators: edge=%s, operators=%d",
          edge,
          operators.size());
      Check.that(
          !operators.get(edge.from).backward || operators.get(edge.to).backward,
          "the forward pass reads nothing of the backward pass: edge=%s",
          edge);
    }
    int[] from = edges.stream().mapToInt(Edge::from).toArray();
    int[] to = edges.stream().mapToInt(Edge::to).toArray();
    int[] part = Components.of(operators.size(), from, to);
    for (int edge = 0; edge < from.length; edge++) {
      if (part[from[edge]] == part[to[edge]]) {
        throw new CircleException(edge);
      }
    }
  }

  /** The edges form a circle. */
  public static final class CircleException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;
    private final int edge;

    CircleException(int edge) {
      super("the edges form a circle with edge " + edge);
      this.edge = edge;
    }

    /** The place of an edge of the circle. */
    public int edge() {
      return edge;
    }
  }

  public String name() {
    return name;
  }

  public Devices devices() {
    return devices;
  }

  public List<Operator> operators() {
    return operators;
  }

  public Operator operator(int place) {
    return operators.get(place);
  }

  public List<Edge> edges() {
    return edges;
  }

  public int size() {
    return operators.size();
  }

  /** The same network on other devices. */
  public OperatorGraph on(Devices others) {
    return new OperatorGraph(name, others, operators, edges);
  }
}
