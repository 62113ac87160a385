package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * The sum of a large tensor over the members of a group, in place: each member adds up one part of
 * each segment and sends the sum to all others. As few bytes go out as in a ring, in two rounds
 * instead of two for each member; and since terms are added in the order of the members, the sum
 * has the same bits however it is cut. Segments are so small that what is added is still in the
 * cache, and the next one is on its way meanwhile.
 *
 * <p>R. Rabenseifner, <i>Optimization of collective reduction operations</i>, ICCS 2004
 * (doi:10.1007/978-3-540-24685-5_1): reduce-scatter and allgather; here all pairs exchange at once.
 */
final class SegmentedSum {
  /** Bytes that a member adds up at once. */
  private static final long PART_BYTES = 1 << 18;

  private static final int ROUNDS = 2; // tags of an operation

  private final MessageGroup group;
  private final Tensor flat;
  private final int tag;
  private final long segment;

  /** A segment under way. */
  private record Segment(
      List<Tensor> terms, List<Delivery> toAdd, List<Delivery> rest, Tensor own) {}

  /**
   * @param flat along memory
   * @param operation of the group
   */
  SegmentedSum(MessageGroup group, Tensor flat, int operation) {
    this.group = group;
    this.flat = flat;
    this.tag = ROUNDS * operation;
    this.segment = group.size() * PART_BYTES / (flat.bytes() / flat.elements());
  }

  void run() {
    long count = flat.elements();
    Segment current = begin(0);
    for (long first = 0; first < count; first += segment) {
      Segment next = first + segment < count ? begin(first + segment) : current;
      add(current);
      end(current);
      current = next;
    }
  }

  /** Sends others their parts of a segment, and asks for all that is to come of it. */
  private Segment begin(long first) {
    long length = Math.min(segment, flat.elements() - first);
    List<Tensor> terms = new ArrayList<>();
    List<Delivery> toAdd = new ArrayList<>();
    List<Delivery> rest = new ArrayList<>();
    try (Scope scope = new Scope()) {
      Tensor own = scope.keep(part(first, length, group.place()));
      for (int member = 0; member < group.size(); member++) {
        if (member != group.place()) {
          Tensor theirs = part(first, length, member);
          Tensor term = scope.keep(own.twinOnHost());
          terms.add(term);
          toAdd.add(group.receive(term, member, tag));
          rest.add(group.send(theirs, member, tag));
          rest.add(group.receive(theirs, member, tag + 1)); // it has got what was there before
        } else {
          terms.add(own);
        }
      }
      return new Segment(terms, toAdd, rest, own);
    }
  }

  private Tensor part(long first, long length, int member) {
    long begin = length * member / group.size();
    long end = length * (member + 1) / group.size();
    return flat.part(0, first + begin, end - begin);
  }

  private void add(Segment segment) {
    segment.toAdd().forEach(group::await);
    MessageGroup.addUp(segment.terms(), group.place());
    for (int member = 0; member < group.size(); member++) {
      if (member != group.place()) {
        segment.rest().add(group.send(segment.own(), member, tag + 1));
      }
    }
  }

  private void end(Segment segment) {
    segment.rest().forEach(group::await);
    segment.terms().forEach(Tensor::close);
  }
}
