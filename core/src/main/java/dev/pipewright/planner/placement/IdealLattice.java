package dev.pipewright.planner.placement;

import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * All sets of groups that contain with a group whatever leads to it (ideals), smaller ones first.
 * The empty one is number 0, the full one the last. A contiguous set is what one ideal has and an
 * ideal within it has not.
 *
 * <p>From each ideal links lead to those with one group less. Walking down links of falling ranks
 * only meets every ideal within it just once: the groups that are left out, by rank from above,
 * spell the way.
 */
final class IdealLattice {
  final int count;
  final int words; // of each bit set
  final long[] bits; // [ideal][word]
  final int[] linkStart; // [ideal], and one more
  final int[] linkTo; // the ideal with one group less
  final int[] linkGroup; // that group
  final int[] linkRank; // of that group, rising from link to link of an ideal

  private IdealLattice(
      int count,
      int words,
      long[] bits,
      int[] linkStart,
      int[] linkTo,
      int[] linkGroup,
      int[] linkRank) {
    this.count = count;
    this.words = words;
    this.bits = bits;
    this.linkStart = linkStart;
    this.linkTo = linkTo;
    this.linkGroup = linkGroup;
    this.linkRank = linkRank;
  }

  /** Only the beginnings of one order of all groups. */
  static IdealLattice chain(int[] order) {
    int size = order.length;
    int words = (size + 63) / 64;
    long[] bits = new long[(size + 1) * words];
    int[] start = new int[size + 2];
    int[] to = new int[size];
    int[] rank = new int[size];
    for (int i = 0; i < size; i++) {
      System.arraycopy(bits, i * words, bits, (i + 1) * words, words);
      bits[(i + 1) * words + order[i] / 64] |= 1L << order[i];
      start[i + 2] = i + 1;
      to[i] = i;
      rank[i] = i;
    }
    return new IdealLattice(size + 1, words, bits, start, to, order.clone(), rank);
  }

  /**
   * All ideals, or none where there are more than {@code most} or it was asked to stop.
   *
   * <p>O(ideals · width · words of a bit set).
   */
  static Optional<IdealLattice> of(Groups groups, int most, BooleanSupplier stop) {
    return new Growth(groups, most).grown(stop);
  }

  boolean contains(int ideal, int group) {
    return (bits[ideal * words + group / 64] & 1L << group) != 0;
  }

  /** The groups of {@code ideal} that are not in {@code within}. */
  int[] difference(int ideal, int within) {
    int[] groups = new int[words * 64];
    int found = 0;
    for (int word = 0; word < words; word++) {
      long left = bits[ideal * words + word] & ~bits[within * words + word];
      for (; left != 0; left &= left - 1) {
        groups[found++] = word * 64 + Long.numberOfTrailingZeros(left);
      }
    }
    return Arrays.copyOf(groups, found);
  }

  /** For each ideal the sum of a quantity of its groups. */
  double[] sums(double[] quantity) {
    double[] sums = new double[count];
    for (int ideal = 1; ideal < count; ideal++) {
      int link = linkStart[ideal];
      sums[ideal] = sums[linkTo[link]] + quantity[linkGroup[link]];
    }
    return sums;
  }

  /** Ideals under construction, level by level. */
  private static final class Growth {
    private static final int MOST_WORDS = 1 << 24; // of bits and of what is ready
    private static final int MOST_LINKS = 1 << 24;
    private static final int POLL = 1024; // ideals between two looks at the stop

    private final Groups groups;
    private final int most;
    private final int words;
    private final long[] key; // a random number of each group: an ideal's hash is their xor
    private long[] bits;
    private long[] ready; // groups that could be added, beside the bits of each ideal
    private long[] hash;
    private int[] table; // by hash: ideal + 1
    private int count = 1;
    private int[] linkFrom = new int[256];
    private int[] linkTo = new int[256];
    private int[] linkGroup = new int[256];
    private int links;

    Growth(Groups groups, int most) {
      this.groups = groups;
      words = Math.max(1, (groups.size + 63) / 64);
      this.most = Math.min(most, MOST_WORDS / (2 * words));
      key = new SplittableRandom(7).longs(groups.size).toArray();
      bits = new long[64 * words];
      ready = new long[64 * words];
      hash = new long[64];
      table = new int[256];
      for (int group = 0; group < groups.size; group++) {
        if (groups.predecessors[group].length == 0) {
          ready[group / 64] |= 1L << group;
        }
      }
      table[0] = 1;
    }

    Optional<IdealLattice> grown(BooleanSupplier stop) {
      for (int ideal = 0; ideal < count; ideal++) {
        if (count > most
            || links > MOST_LINKS
            || (ideal % POLL == 0 && ideal > 0 && stop.getAsBoolean())) {
          return Optional.empty();
        }
        for (int word = 0; word < words; word++) {
          for (long left = ready[ideal * words + word]; left != 0; left &= left - 1) {
            int group = word * 64 + Long.numberOfTrailingZeros(left);
            link(with(ideal, group), ideal, group);
          }
        }
      }
      return Optional.of(lattice());
    }

    private int with(int ideal, int group) {
      if (count == hash.length) {
        grow();
      }
      long wanted = hash[ideal] ^ key[group];
      int slot = (int) wanted & (table.length - 1);
      while (table[slot] != 0) {
        int other = table[slot] - 1;
        if (hash[other] == wanted && same(other, ideal, group)) {
          return other;
        }
        slot = (slot + 1) & (table.length - 1);
      }
      table[slot] = count + 1;
      return add(ideal, group, wanted);
    }

    private boolean same(int other, int ideal, int group) {
      for (int word = 0; word < words; word++) {
        long added = word == group / 64 ? 1L << group : 0;
        if (bits[other * words + word] != (bits[ideal * words + word] | added)) {
          return false;
        }
      }
      return true;
    }

    private int add(int ideal, int group, long wanted) {
      int added = count++;
      hash[added] = wanted;
      System.arraycopy(bits, ideal * words, bits, added * words, words);
      System.arraycopy(ready, ideal * words, ready, added * words, words);
      bits[added * words + group / 64] |= 1L << group;
      ready[added * words + group / 64] &= ~(1L << group);
      for (int successor : groups.successors[group]) {
        if (complete(added, groups.predecessors[successor])) {
          ready[added * words + successor / 64] |= 1L << successor;
        }
      }
      return added;
    }

    private boolean complete(int ideal, int[] needed) {
      for (int group : needed) {
        if ((bits[ideal * words + group / 64] & 1L << group) == 0) {
          return false;
        }
      }
      return true;
    }

    private void grow() {
      int room = 2 * hash.length;
      hash = Arrays.copyOf(hash, room);
      bits = Arrays.copyOf(bits, room * words);
      ready = Arrays.copyOf(ready, room * words);
      table = new int[4 * room];
      for (int ideal = 0; ideal < count; ideal++) {
        int slot = (int) hash[ideal] & (table.length - 1);
        while (table[slot] != 0) {
          slot = (slot + 1) & (table.length - 1);
        }
        table[slot] = ideal + 1;
      }
    }

    private void link(int from, int to, int group) {
      if (links == linkFrom.length) {
        linkFrom = Arrays.copyOf(linkFrom, 2 * links);
        linkTo = Arrays.copyOf(linkTo, 2 * links);
        linkGroup = Arrays.copyOf(linkGroup, 2 * links);
      }
      linkFrom[links] = from;
      linkTo[links] = to;
      linkGroup[links++] = group;
    }

    /** Links by ideal; those of one ideal by group, by counting twice. */
    private IdealLattice lattice() {
      int[] byGroup = sorted(null, linkGroup, groups.size);
      int[] byIdeal = sorted(byGroup, linkFrom, count);
      int[] start = new int[count + 1];
      int[] to = new int[links];
      int[] group = new int[links];
      for (int i = 0; i < links; i++) {
        to[i] = linkTo[byIdeal[i]];
        group[i] = linkGroup[byIdeal[i]];
        start[linkFrom[byIdeal[i]] + 1] = i + 1;
      }
      long[] exact = Arrays.copyOf(bits, count * words);
      return new IdealLattice(count, words, exact, start, to, group, group);
    }

    /** The links in {@code order} (as they are, where null) sorted stably by {@code key}. */
    private int[] sorted(int @Nullable [] order, int[] key, int keys) {
      int[] place = new int[keys + 1];
      for (int i = 0; i < links; i++) {
        place[key[i] + 1]++;
      }
      for (int i = 0; i < keys; i++) {
        place[i + 1] += place[i];
      }
      int[] result = new int[links];
      for (int i = 0; i < links; i++) {
        int link = order == null ? i : order[i];
        result[place[key[link]]++] = link;
      }
      return result;
    }
  }
}
