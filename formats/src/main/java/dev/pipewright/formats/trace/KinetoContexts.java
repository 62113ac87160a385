package dev.pipewright.formats.trace;

import dev.pipewright.formats.trace.KinetoEvents.Host;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Within what each event of a thread ran: its module, its pass and its step.
 *
 * <p>Modules are those that the profiler recorded ({@code with_modules}); without any, ranges that
 * the program named; without these, the operators that the program called. An operator of the
 * backward pass belongs to the module of the forward operator with the same sequence number, which
 * is the last one that began with it: autograd counts on when the operator's node is made.
 */
final class KinetoContexts {
  /** What names the layers. */
  enum Source {
    MODULES("modules"),
    ANNOTATIONS("named ranges"),
    OPS("operators");

    final String words;

    Source(String words) {
      this.words = words;
    }
  }

  /** What a piece of work is part of. */
  enum Phase {
    FORWARD,
    BACKWARD,
    UPDATE
  }

  private static final String STEP = "ProfilerStep#";
  private static final String BACKWARD = "autograd::engine::evaluate_function";
  private static final String UPDATE = "Optimizer.";
  private static final List<String> OTHERS = // ranges that name no layer
      List.of(
          STEP,
          UPDATE,
          "nccl:",
          "gloo:",
          "c10d::",
          "DistributedDataParallel",
          "autograd::",
          "PyTorch Profiler",
          "[pytorch|",
          "enumerate(",
          "dataloader",
          "torch/");

  private final KinetoEvents events;
  final Source source;
  final KinetoEvents.Texts layers = new KinetoEvents.Texts();

  /** By event: its layer, or {@link KinetoEvents#NONE}. */
  final int[] layer;

  /** By event. */
  final Phase[] phase;

  private final int[] around; // by event: the one that it lies in

  /** By event: the operator around it that no other is around, or {@link KinetoEvents#NONE}. */
  final int[] outermost;

  final List<long[]> steps = new ArrayList<>(); // begin and end of each
  private final Map<Integer, int[]> byThread = new HashMap<>(); // events in order of begin
  private final Map<Long, Integer> layerOfSequence = new HashMap<>();

  KinetoContexts(KinetoEvents events) {
    this.events = events;
    layer = new int[events.hosts()];
    outermost = new int[events.hosts()];
    phase = new Phase[events.hosts()];
    around = new int[events.hosts()];
    Arrays.fill(layer, KinetoEvents.NONE);
    Arrays.fill(around, KinetoEvents.NONE);
    Arrays.fill(outermost, KinetoEvents.NONE);
    Arrays.fill(phase, Phase.FORWARD);
    findSteps();
    source = source();
    sort();
    byThread.values().forEach(this::walk);
    byThread.values().forEach(this::backward);
  }

  private void findSteps() {
    for (int i = 0; i < events.hosts(); i++) {
      if (events.is(i, Host.ANNOTATION) && events.hostName(i).startsWith(STEP)) {
        steps.add(new long[] {events.hostStart.at(i), events.hostEnd.at(i)});
      }
    }
    steps.sort(Comparator.comparingLong(step -> step[0]));
  }

  private Source source() {
    boolean annotated = false;
    for (int i = 0; i < events.hosts(); i++) {
      if (events.is(i, Host.MODULE)) {
        return Source.MODULES;
      }
      annotated |= names(i);
    }
    return annotated ? Source.ANNOTATIONS : Source.OPS;
  }

  /** Whether a range names a layer. */
  private boolean names(int host) {
    String name = events.hostName(host);
    return events.is(host, Host.ANNOTATION)
        && OTHERS.stream().noneMatch(name::startsWith)
        && !name.startsWith("[param|");
  }

  private void sort() {
    Map<Integer, List<Integer>> lists = new HashMap<>();
    for (int i = 0; i < events.hosts(); i++) {
      lists.computeIfAbsent((int) events.hostThread.at(i), key -> new ArrayList<>()).add(i);
    }
    lists.forEach((thread, list) -> {
      list.sort(
          Comparator.<Integer>comparingLong(events.hostStart::at)
              .thenComparing(Comparator.<Integer>comparingLong(events.hostEnd::at).reversed()));
      byThread.put(thread, list.stream().mapToInt(Integer::intValue).toArray());
    });
  }

  /** Gives each event of a thread what those around it say. */
  private void walk(int[] order) {
    int[] stack = new int[64];
    int depth = 0;
    Map<Integer, Integer> counts = new HashMap<>(); // of operators called in this step
    int step = KinetoEvents.NONE;
    for (int host : order) {
      while (depth > 0 && events.hostEnd.at(stack[depth - 1]) <= events.hostStart.at(host)) {
        depth--;
      }
      int parent = depth == 0 ? KinetoEvents.NONE : stack[depth - 1];
      around[host] = parent;
      inherit(host, parent);
      int now = step(events.hostStart.at(host));
      if (now != step) {
        counts.clear();
        step = now;
      }
      nameLayer(host, counts);
      if (depth == stack.length) {
        stack = Arrays.copyOf(stack, 2 * depth);
      }
      stack[depth++] = host;
    }
  }

  private void inherit(int host, int parent) {
    String name = events.hostName(host);
    boolean op = events.is(host, Host.OP);
    if (parent != KinetoEvents.NONE) {
      layer[host] = layer[parent];
      phase[host] = phase[parent];
      outermost[host] = outermost[parent];
    }
    if (op && outermost[host] == KinetoEvents.NONE) {
      outermost[host] = host;
    }
    if (name.startsWith(BACKWARD)) {
      phase[host] = Phase.BACKWARD;
    } else if (name.startsWith(UPDATE)) {
      phase[host] = Phase.UPDATE;
    }
  }

  private void nameLayer(int host, Map<Integer, Integer> counts) {
    boolean forward = phase[host] == Phase.FORWARD;
    switch (source) {
      case MODULES -> {
        if (events.is(host, Host.MODULE)) {
          layer[host] = layers.number(events.hostName(host));
        }
      }
      case ANNOTATIONS -> {
        if (names(host)) {
          layer[host] = layers.number(events.hostName(host));
        }
      }
      case OPS -> {
        if (forward && outermost[host] == host) {
          String op = events.hostName(host).replaceFirst("^aten::", "");
          int count = counts.merge(events.names.number(op), 1, Integer::sum);
          layer[host] = layers.number(op + "-" + count);
        }
      }
    }
    if (forward
        && events.is(host, Host.OP)
        && layer[host] != KinetoEvents.NONE
        && events.hostSequence.at(host) >= 0) {
      layerOfSequence.put(events.hostSequence.at(host), layer[host]);
    }
  }

  /** Gives the operators of the backward pass the layers of their forward operators. */
  private void backward(int[] order) {
    int last = KinetoEvents.NONE;
    for (int host : order) {
      if (phase[host] != Phase.BACKWARD) {
        continue;
      }
      if (outermost[host] == host || events.hostName(host).startsWith(BACKWARD)) {
        // gradients are accumulated by nodes of their own, after those of their layer
        last = layerOfSequence.getOrDefault(events.hostSequence.at(host), last);
      }
      layer[host] = last;
    }
  }

  /** The step of a time, from 0; {@link KinetoEvents#NONE} outside of all. */
  int step(long time) {
    int low = 0;
    int high = steps.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (steps.get(middle)[0] <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low > 0 && time < steps.get(low - 1)[1] ? low - 1 : KinetoEvents.NONE;
  }

  /** The innermost event of a thread at a time, or {@link KinetoEvents#NONE}. */
  int innermost(int thread, long time) {
    int[] order = byThread.get(thread);
    if (order == null) {
      return KinetoEvents.NONE;
    }
    int low = 0;
    int high = order.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (events.hostStart.at(order[middle]) <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    int host = low == 0 ? KinetoEvents.NONE : order[low - 1];
    while (host != KinetoEvents.NONE && events.hostEnd.at(host) <= time) {
      host = around[host];
    }
    return host;
  }
}
