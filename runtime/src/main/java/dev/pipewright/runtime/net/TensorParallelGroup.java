package dev.pipewright.runtime.net;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Span;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.GradientHook;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Workers that compute the layers of a stage together, and how their tensors are exchanged as steps
 * of the autograd history: what is sent in the forward pass returns as gradients in the backward
 * pass.
 *
 * <p>All members build the same history, step by step. A backward pass runs the steps of a history
 * in exactly the reverse order of their creation. So all members communicate in the same order, and
 * no cyclic wait is possible.
 */
public final class TensorParallelGroup {
  /** One worker that computes whole layers. */
  public static final TensorParallelGroup ALONE =
      new TensorParallelGroup(Parallelism.NONE, 0, List.of());

  private final Parallelism split;
  private final int part;
  private final int[] place;
  private final List<Group> groups;
  private final Map<Record, GradientHook> hooks = new HashMap<>();
  private final Deque<RowExchange> idle = new ArrayDeque<>();
  private final Map<Long, Tensor> masks = new HashMap<>(); // by tokens that the last query sees
  private final IdentityHashMap<SharedStatistics, SharedStatistics> statistics =
      new IdentityHashMap<>();
  private final @Nullable TensorParallelGroup ofCopy; // of nested groups
  private final @Nullable TensorParallelGroup betweenCopies;

  /**
   * One of the members.
   *
   * @param groups all members, in the order of their parts; then, for each axis of the grid, those
   *     that differ from this one only in their place along it, in that order
   */
  public TensorParallelGroup(Parallelism split, int part, List<Group> groups) {
    this.split = split;
    this.part = part;
    this.place = split.place(part);
    this.groups = List.copyOf(groups);
    boolean nested = split.nested();
    this.ofCopy = nested ? within(split.ofCopy(), split.piece(part), along(1)) : null;
    this.betweenCopies =
        nested ? within(split.betweenCopies(), part / split.pieces(), along(0)) : null;
  }

  /** Some of the members, who divide something among them along the first axis. */
  private static TensorParallelGroup within(Parallelism split, int part, Group members) {
    int groups = 1 + split.grid().size();
    return new TensorParallelGroup(split, part, Collections.nCopies(groups, members));
  }

  /**
   * This worker among others; all of them call it at the same time.
   *
   * @param members in the order of their parts, ascending
   */
  public static TensorParallelGroup of(
      Parallelism split, List<Integer> members, Transport transport) {
    if (!split.several()) {
      return ALONE;
    }
    int part = members.indexOf(transport.worker());
    String name = "tensor-parallel-" + members.get(0);
    List<Group> groups = new ArrayList<>();
    groups.add(transport.group(name, members));
    for (int axis = 0; axis < split.grid().size(); axis++) {
      int[] place = split.place(part);
      List<Integer> along = new ArrayList<>();
      for (int i = 0; i < split.grid().get(axis); i++) {
        place[axis] = i;
        along.add(members.get(split.part(place)));
      }
      String own = name + "-axis-" + axis + "-" + along.get(0);
      groups.add(along.size() == members.size() ? groups.get(0) : transport.group(own, along));
    }
    return new TensorParallelGroup(split, part, groups);
  }

  public Parallelism split() {
    return split;
  }

  /** Whether this worker is the only member. */
  public boolean alone() {
    return !split.several();
  }

  /** Those members that divide layers for the same tokens; all, but in nested groups. */
  TensorParallelGroup ofCopy() {
    return ofCopy == null ? this : ofCopy;
  }

  /**
   * Those that have the same pieces of layers for other tokens or samples; this worker alone as a
   * rule.
   */
  TensorParallelGroup betweenCopies() {
    return betweenCopies == null ? ALONE : betweenCopies;
  }

  int parts() {
    return split.parts();
  }

  int part() {
    return part;
  }

  /** This member's positions of an axis that is cut in as many parts as there are members. */
  Span own(long extent) {
    return Span.of(extent, part, parts());
  }

  /** This member's place along an axis of the grid. */
  int place(int axis) {
    return place[axis];
  }

  /** The mask of this member's tokens, made once for all layers and micro-batches. */
  Tensor hidingLater(long first, long steps) {
    return masks.computeIfAbsent(
        steps,
        key -> {
          try (Scope scope = new Scope()) {
            return scope.keep(Functions.hidingLater(first, steps));
          }
        });
  }

  /**
   * An exchange of rows for a step of the history of a pass; it is free for another when that is
   * cleared.
   */
  RowExchange rowExchange(ForwardPass pass) {
    RowExchange free = idle.isEmpty() ? new RowExchange(this) : idle.removeLast();
    pass.whenCleared(() -> idle.addLast(free));
    return free;
  }

  /** All members. */
  Group all() {
    return groups.get(0);
  }

  /** Those along an axis of the grid. */
  Group along(int axis) {
    return groups.get(axis + 1);
  }

  /** The hook of a step, made once: those of a history live as long as it. */
  Tensor hooked(Record step, Tensor tensor, UnaryOperator<Tensor> change) {
    return tensor.hasGradient()
        ? hooks.computeIfAbsent(step, key -> new GradientHook(change)).on(tensor)
        : tensor;
  }

  /** Replaces a tensor of every member by the sum of all. */
  void sumInPlace(Tensor tensor) {
    all().sum(tensor).await();
  }

  /** The parts of a tensor that all members have, cut along these axes. */
  Tensor assembled(Tensor own, TensorCut cut) {
    List<Tensor> to = new ArrayList<>();
    List<Tensor> from = new ArrayList<>();
    Tensor sent = own.detached().packed();
    for (int other = 0; other < parts(); other++) {
      to.add(sent);
      from.add(
          other == part ? own : Tensor.emptyPacked(cut.shape(own.shape(), split.place(other))));
    }
    all().exchange(to, from).await();
    return joined(from, cut, new int[0]);
  }

  private Tensor joined(List<Tensor> parts, TensorCut cut, int[] at) {
    int axis = at.length;
    if (axis == split.grid().size()) {
      return parts.get(split.part(at));
    }
    List<Tensor> pieces = new ArrayList<>();
    for (int i = 0; i < split.grid().get(axis); i++) {
      int[] next = Arrays.copyOf(at, axis + 1);
      next[axis] = i;
      pieces.add(joined(parts, cut, next));
    }
    return pieces.size() == 1 ? pieces.get(0) : Tensor.joined(pieces, cut.axis(axis));
  }

  /** This member's part of a tensor. */
  Tensor own(Tensor whole, TensorCut cut) {
    Tensor own = whole;
    for (int axis = 0; axis < place.length; axis++) {
      Span span = cut.span(axis, place);
      if (span.count() < own.extent(cut.axis(axis))) {
        own = own.part(cut.axis(axis), span.first(), span.count());
      }
    }
    return own;
  }

  /**
   * A whole tensor, of which each member has its share; all members call it. It belongs to the
   * scope that is open.
   */
  public Tensor whole(Tensor own, Share share) {
    if (!(share instanceof Share.Piece piece)) {
      return own;
    }
    if (ofCopy != null && !piece.ofGroup()) {
      return ofCopy.whole(own, share);
    }
    Tensor whole = Tensor.zeros(share.wholeShape(own.shape()));
    share.put(own.detached(), whole);
    sumInPlace(whole);
    return whole;
  }

  /** Averages over these members and all other participants. */
  SharedStatistics statistics(SharedStatistics others) {
    if (alone()) {
      return others;
    }
    return statistics.computeIfAbsent(others, Together::new);
  }

  private final class Together implements SharedStatistics {
    private final SharedStatistics others;

    private Together(SharedStatistics others) {
      this.others = others;
    }

    @Override
    public boolean shared() {
      return true;
    }

    @Override
    public void sumInPlace(Tensor tensor) {
      TensorParallelGroup.this.sumInPlace(tensor);
      others.sumInPlace(tensor);
    }
  }
}
