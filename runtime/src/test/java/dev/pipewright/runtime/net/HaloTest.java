package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.parallel.Halo;
import dev.pipewright.parallel.Span;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The rows that parts need of each other, against what each window reads. */
class HaloTest {
  /** All small windows. */
  private static List<Halo> all() {
    List<Halo> all = new ArrayList<>();
    for (int in = 1; in <= 11; in++) {
      for (int kernel = 1; kernel <= 5; kernel++) {
        for (int dilation = 1; dilation <= 2; dilation++) {
          for (int stride = 1; stride <= 3; stride++) {
            for (int padding = 0; padding <= 3; padding++) {
              int room = in + 2 * padding - dilation * (kernel - 1) - 1;
              int out = Math.floorDiv(room, stride) + 1;
              for (int parts = 1; parts <= Math.min(4, Math.min(in, out)); parts++) {
                all.add(new Halo(in, out, kernel, stride, padding, dilation, parts));
              }
            }
          }
        }
      }
    }
    return all;
  }

  /** The rows that a part's windows read, those outside of the map included. */
  private static SortedSet<Long> read(Halo halo, int part) {
    SortedSet<Long> read = new TreeSet<>();
    Span made = halo.made(part);
    for (long row = made.first(); row < made.end(); row++) {
      for (int k = 0; k < halo.kernel(); k++) {
        read.add(row * halo.stride() - halo.padding() + (long) k * halo.dilation());
      }
    }
    return read;
  }

  @Test
  void partsShareOutAllRows() {
    for (Halo halo : all()) {
      long in = 0;
      long out = 0;
      for (int part = 0; part < halo.parts(); part++) {
        assertEquals(in, halo.owned(part).first());
        assertEquals(out, halo.made(part).first());
        assertTrue(halo.owned(part).count() > 0 && halo.made(part).count() > 0, halo.toString());
        in = halo.owned(part).end();
        out = halo.made(part).end();
      }
      assertEquals(halo.in(), in);
      assertEquals(halo.out(), out);
    }
  }

  @Test
  void aPartNeedsTheRowsFromTheFirstToTheLastThatItsWindowsRead() {
    for (Halo halo : all()) {
      for (int part = 0; part < halo.parts(); part++) {
        SortedSet<Long> read = read(halo, part);
        SortedSet<Long> ofMap = read.subSet(0L, (long) halo.in());
        Span needed = halo.needed(part);
        assertEquals(
            read.last() - read.first() + 1,
            halo.paddingBefore(part) + needed.count() + halo.paddingAfter(part),
            halo + " part " + part);
        if (!ofMap.isEmpty()) {
          long first = Math.max(0, read.first());
          long last = Math.min(halo.in() - 1, read.last());
          assertEquals(new Span(first, last - first + 1), needed, halo + " part " + part);
          assertEquals(Math.max(0, -read.first()), halo.paddingBefore(part), halo.toString());
          assertTrue(needed.first() <= ofMap.first() && ofMap.last() < needed.end());
        }
      }
    }
  }

  @Test
  void ownersLendWhatOthersNeed() {
    for (Halo halo : all()) {
      boolean any = false;
      for (int to = 0; to < halo.parts(); to++) {
        long lent = 0;
        for (int owner = 0; owner < halo.parts(); owner++) {
          Span rows = halo.lent(owner, to);
          lent += rows.count();
          any |= owner != to && rows.count() > 0;
          for (long row = rows.first(); row < rows.end(); row++) {
            assertTrue(halo.owned(owner).first() <= row && row < halo.owned(owner).end());
          }
        }
        assertEquals(halo.needed(to).count(), lent);
      }
      assertEquals(any, halo.exchanges(), halo.toString());
    }
  }
}
