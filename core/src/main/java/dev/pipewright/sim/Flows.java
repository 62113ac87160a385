package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.trace.Timeline.Content;
import dev.pipewright.trace.Timeline.Flow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the ops of a schedule wait for from other ranks: activations, gradients, and states. */
final class Flows {
  private final Schedule schedule;
  private final int depth;
  private final Map<Long, Place> makers = new HashMap<>(); // by pass, stage and micro-batch
  private final List<Flow> flows = new ArrayList<>();

  private record Place(int rank, int position) {}

  private Flows(Schedule schedule) {
    this.schedule = schedule;
    this.depth = schedule.placement().depth();
  }

  /** Those between two ranks, by the rank that waits. */
  static List<Flow> of(Schedule schedule) {
    Flows flows = new Flows(schedule);
    flows.makers();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        flows.into(program[i], rank, i);
      }
    }
    return flows.flows;
  }

  private void makers() {
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        Pass pass = Schedule.pass(program[i]);
        if (pass == Pass.FORWARD || pass.propagates()) {
          makers.put(key(program[i], 0), new Place(rank, i));
        } else if (pass == Pass.HAND_ON) {
          makers.put(turn(program[i], 0), new Place(rank, i));
        }
      }
    }
  }

  private void into(long op, int rank, int position) {
    Pass pass = Schedule.pass(op);
    Placement placement = schedule.placement();
    int stage = Schedule.stage(op);
    if (pass == Pass.FORWARD && !placement.first(stage)) {
      add(Content.ACTIVATIONS, makers.get(key(op, -1)), rank, position);
    } else if (pass.propagates() && !placement.last(stage)) {
      add(Content.GRADIENTS, makers.get(key(op, 1)), rank, position);
    } else if (pass == Pass.HAND_ON) {
      Place before = makers.get(turn(op, -1));
      add(Content.STATE, before == null ? null : use(before), rank, position);
    }
  }

  private void add(Content content, @Nullable Place from, int rank, int position) {
    if (from != null && from.rank() != rank) {
      flows.add(new Flow(content, from.rank(), from.position(), rank, position));
    }
  }

  /** The op of a stage {@code further} on for the same micro-batch and direction. */
  private static long key(long op, int further) {
    Pass pass = Schedule.pass(op) == Pass.FORWARD ? Pass.FORWARD : Pass.BACKWARD;
    return Schedule.pack(pass, Schedule.stage(op) + further, Schedule.microBatch(op));
  }

  /** The turn {@code later} with the same stage of a chain. */
  private long turn(long op, int later) {
    int microBatch = Schedule.microBatch(op) + later;
    return microBatch < 0
        ? -1
        : Schedule.pack(Pass.HAND_ON, Schedule.stage(op) % depth, microBatch);
  }

  /** What is computed of the stage in its turn; the hand-on itself where nothing is. */
  private Place use(Place handOn) {
    long[] program = schedule.packed(handOn.rank());
    for (int i = handOn.position() + 1; i < program.length; i++) {
      boolean computes = !Schedule.pass(program[i]).exchanges();
      if (computes && Schedule.stage(program[i]) == Schedule.stage(program[handOn.position()])) {
        return new Place(handOn.rank(), i);
      }
    }
    return handOn;
  }
}
