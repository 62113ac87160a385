package dev.pipewright.exchange;

import dev.pipewright.units.Check;

/**
 * An exchange of a tensor-parallel group at one point of a layer, once per micro-batch.
 *
 * @param layer of the graph
 * @param forward whether it belongs to the forward pass
 * @param elements of the full tensor that is gathered, summed or scattered; of a halo the most that
 *     a member sends; of an all-to-all those of all members together
 * @param ofEachSample whether there are as many elements for each sample, or for all together
 * @param handed elements that each member sends to each other member
 * @param betweenCopies whether its members are of several {@linkplain
 *     dev.pipewright.parallel.Parallelism#copies copies} of the group: those that hold the same
 *     part, and of an all-to-all everyone
 */
public record GroupExchange(
    int layer,
    boolean forward,
    Kind kind,
    long elements,
    boolean ofEachSample,
    Handed handed,
    boolean betweenCopies) {
  /** What it is. */
  public enum Kind {
    /** All have a term of a whole tensor, and then its sum. */
    SUM,
    /** All have a part of a tensor, and then all of it. */
    GATHER,
    /** All have a term of a whole tensor, and then their part of its sum. */
    SUM_PARTS,
    /** Neighbours have rows that a window reaches. */
    HALO,
    /** All have rows for each other: of tokens for experts, where these are equally busy. */
    ALL_TO_ALL
  }

  /** Elements that one member hands another. */
  public interface Handed {
    /** No elements for one other member alone: a sum of all. */
    Handed NOTHING = (from, to) -> 0;

    long elements(int from, int to);

    /** What one member hands all others. */
    default long elements(int from, int first, int parts) {
      long sum = 0;
      for (int to = first; to < parts; to++) {
        sum += to == from ? 0 : elements(from, to);
      }
      return sum;
    }

    /**
     * The elements of each message that members send, sender by sender: of those that send most.
     */
    default long[][] messages(int members) {
      long[][] messages = new long[members][members];
      for (int from = 0; from < members; from++) {
        for (int to = 0; to < members; to++) {
          messages[from][to] = to == from ? 0 : elements(from, to);
        }
      }
      return messages;
    }

    /** The same the other way. */
    default Handed back() {
      Handed there = this;
      return new Handed() {
        @Override
        public long elements(int from, int to) {
          return there.elements(to, from);
        }

        @Override
        public long[][] messages(int members) {
          long[][] sent = there.messages(members);
          long[][] returned = new long[sent.length][sent.length];
          for (int from = 0; from < sent.length; from++) {
            for (int to = 0; to < sent.length; to++) {
              returned[from][to] = sent[to][from];
            }
          }
          return returned;
        }
      };
    }
  }

  public GroupExchange {
    Check.that(elements >= 0, "an exchange has elements: layer=%d, elements=%d", layer, elements);
  }

  /** An exchange of all members of a group without copies, or of those of each copy. */
  GroupExchange(
      int layer, boolean forward, Kind kind, long elements, boolean ofEachSample, Handed handed) {
    this(layer, forward, kind, elements, ofEachSample, handed, false);
  }

  /** The same where each of so many copies exchanges for its tokens or samples. */
  GroupExchange ofCopies(int copies) {
    Handed own = (from, to) -> handed.elements(from, to) / copies;
    return new GroupExchange(layer, forward, kind, elements / copies, ofEachSample, own);
  }

  /** Elements of a micro-batch's slice. */
  public long elements(int samples) {
    return ofEachSample ? elements * samples : elements;
  }

  /** Elements that a member hands all others of so many parts, for one sample. */
  public long handedBy(int member, int parts) {
    return handed.elements(member, 0, parts);
  }
}
