package dev.pipewright.solver;

import com.google.ortools.sat.BoolVar;
import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.IntVar;
import com.google.ortools.sat.LinearExpr;
import com.google.ortools.sat.LinearExprBuilder;
import com.google.ortools.sat.Literal;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorGraph.Edge;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import dev.pipewright.planner.placement.OperatorPlacement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The largest load of a placement, for CP-SAT.
 *
 * <p>For each group of operators of one colour: which device has it. For each producer and
 * accelerator: whether the accelerator has any, and whether it has all, of the producer and its
 * readers; it pays the transfer where it has any but not all. Times are whole ticks, rounded down,
 * so that the model's bound is a bound. Accelerators are equal: each is taken into use by the first
 * group that no earlier one takes.
 */
final class PlacementModel {
  private static final double TICKS = 1e11; // of all times together

  private static final double MOST_BYTES = 0x1p50;

  private final CpModel model = new CpModel();
  private final OperatorGraph graph;
  private final int accelerators;
  private final int[] groupOf;
  private final int groups;
  private final double tick;
  private final BoolVar[][] on; // [group][device], accelerators first

  PlacementModel(OperatorGraph graph, Optional<OperatorPlacement> known) {
    this.graph = graph;
    groupOf = new int[graph.size()];
    Map<Long, Integer> colours = new HashMap<>();
    int count = 0;
    for (int i = 0; i < groupOf.length; i++) {
      var colour = graph.operator(i).colour();
      Integer seen = colour.isPresent() ? colours.get(colour.getAsLong()) : null;
      groupOf[i] = seen == null ? count++ : seen;
      if (colour.isPresent()) {
        colours.put(colour.getAsLong(), groupOf[i]);
      }
    }
    groups = count;
    accelerators = Math.min(groups, graph.devices().accelerators());
    int devices = accelerators + Math.min(groups, graph.devices().processors());
    double all = 0;
    for (Operator operator : graph.operators()) {
      all += operator.acceleratorTime() + operator.processorTime() + 2 * operator.transferTime();
    }
    tick = all > 0 ? all / TICKS : 1;
    on = new BoolVar[groups][devices];
    place();
    memory();
    long most = known.map(placement -> ticks(placement.maxLoad()) + 1).orElse((long) TICKS);
    IntVar largest = model.newIntVar(0, most, "largest load");
    for (LinearExprBuilder load : loads()) {
      model.addLessOrEqual(load, largest);
    }
    model.minimize(largest);
    known.ifPresent(this::hint);
  }

  private long ticks(double time) {
    return (long) Math.floor(time / tick);
  }

  private void place() {
    boolean[] supported = new boolean[groups];
    Arrays.fill(supported, true);
    for (int i = 0; i < groupOf.length; i++) {
      supported[groupOf[i]] &= graph.operator(i).onAccelerator();
    }
    for (int group = 0; group < groups; group++) {
      int here = group;
      Arrays.setAll(on[group], device -> model.newBoolVar(here + " on " + device));
      model.addExactlyOne(on[group]);
      for (int device = 0; device < accelerators; device++) {
        if (!supported[group]) {
          model.addEquality(on[group][device], 0);
        } else if (device > 0) {
          List<Literal> before = new ArrayList<>(List.of(on[group][device].not()));
          for (int earlier = 0; earlier < group; earlier++) {
            before.add(on[earlier][device - 1]);
          }
          model.addBoolOr(before);
        }
      }
    }
  }

  /** In whole bytes: parts of bytes count as whole ones. */
  private void memory() {
    double capacity = graph.devices().acceleratorBytes();
    double[] bytes = new double[groups];
    for (int i = 0; i < groupOf.length; i++) {
      bytes[groupOf[i]] += graph.operator(i).bytes();
    }
    if (Arrays.stream(bytes).sum() <= capacity) {
      return;
    }
    long room = (long) Math.min(capacity, MOST_BYTES);
    for (int device = 0; device < accelerators; device++) {
      LinearExprBuilder held = LinearExpr.newBuilder();
      for (int group = 0; group < groups; group++) {
        held.addTerm(on[group][device], (long) Math.ceil(Math.min(bytes[group], room + 1.0)));
      }
      model.addLessOrEqual(held, room);
    }
  }

  private LinearExprBuilder[] loads() {
    LinearExprBuilder[] loads = new LinearExprBuilder[on[0].length];
    Arrays.setAll(loads, device -> LinearExpr.newBuilder());
    double[] accelerated = new double[groups];
    double[] hosted = new double[groups];
    for (int i = 0; i < groupOf.length; i++) {
      accelerated[groupOf[i]] += graph.operator(i).acceleratorTime();
      hosted[groupOf[i]] += graph.operator(i).processorTime();
    }
    for (int group = 0; group < groups; group++) {
      for (int device = 0; device < loads.length; device++) {
        double time = device < accelerators ? accelerated[group] : hosted[group];
        loads[device].addTerm(on[group][device], ticks(time));
      }
    }
    nets()
        .forEach((net, time) -> {
          for (int device = 0; device < accelerators; device++) {
            transfer(List.copyOf(net), device, ticks(time), loads[device]);
          }
        });
    return loads;
  }

  /** Times to send what one group makes to groups that read it, by all of them. */
  private Map<Set<Integer>, Double> nets() {
    List<Set<Integer>> readers = new ArrayList<>();
    for (int group : groupOf) {
      readers.add(new TreeSet<>(List.of(group)));
    }
    for (Edge edge : graph.edges()) {
      readers.get(edge.from()).add(groupOf[edge.to()]);
    }
    Map<Set<Integer>, Double> nets = new LinkedHashMap<>();
    for (int i = 0; i < groupOf.length; i++) {
      double time = graph.operator(i).transferTime();
      if (readers.get(i).size() > 1 && time > 0) {
        nets.merge(readers.get(i), time, Double::sum);
      }
    }
    return nets;
  }

  private void transfer(List<Integer> net, int device, long time, LinearExprBuilder load) {
    BoolVar any = model.newBoolVar("any");
    BoolVar all = model.newBoolVar("all");
    for (int group : net) {
      model.addImplication(on[group][device], any);
      model.addImplication(all, on[group][device]);
    }
    load.addTerm(any, time).addTerm(all, -time);
  }

  /** Devices are named in the order in which groups take them into use. */
  private void hint(OperatorPlacement placement) {
    int[] deviceOf = new int[groups];
    for (int device = 0; device < placement.devices().size(); device++) {
      for (int operator : placement.devices().get(device).operators()) {
        deviceOf[groupOf[operator]] = device;
      }
    }
    Map<Integer, Integer> named = new HashMap<>();
    int nextAccelerator = 0;
    int nextProcessor = accelerators;
    for (int group = 0; group < groups; group++) {
      if (!named.containsKey(deviceOf[group])) {
        boolean processor = placement.devices().get(deviceOf[group]).processor();
        named.put(deviceOf[group], processor ? nextProcessor++ : nextAccelerator++);
      }
      for (int device = 0; device < on[group].length; device++) {
        model.addHint(on[group][device], device == named.get(deviceOf[group]) ? 1 : 0);
      }
    }
  }

  CpModel model() {
    return model;
  }

  /** Time of a tick. */
  double tick() {
    return tick;
  }

  OperatorPlacement placement(CpSolver values) {
    int[] deviceOf = new int[graph.size()];
    for (int i = 0; i < deviceOf.length; i++) {
      for (int device = 0; device < on[groupOf[i]].length; device++) {
        deviceOf[i] = values.booleanValue(on[groupOf[i]][device]) ? device : deviceOf[i];
      }
    }
    boolean[] processor = new boolean[on[0].length];
    Arrays.fill(processor, accelerators, processor.length, true);
    return OperatorPlacement.of(graph, deviceOf, processor);
  }
}
