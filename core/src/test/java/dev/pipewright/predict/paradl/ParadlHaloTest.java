package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Halos against the sets of rows that each part reads, row by row. */
class ParadlHaloTest {
  /** One axis: every output row and each row that it reads. */
  private record Axis(int in, int kernel, int stride, int padding, int dilation, int parts) {
    static Axis random(SplittableRandom random) {
      while (true) {
        Axis axis =
            new Axis(
                random.nextInt(1, 41),
                random.nextInt(1, 8),
                random.nextInt(1, 5),
                random.nextInt(0, 4),
                random.nextInt(1, 4),
                random.nextInt(1, 7));
        if (axis.out() >= axis.parts && axis.in >= axis.parts) {
          return axis;
        }
      }
    }

    int reach() {
      return dilation * (kernel - 1);
    }

    int out() {
      int room = in + 2 * padding - reach() - 1;
      return room < 0 ? 0 : room / stride + 1;
    }

    boolean reads(int outRow, int inRow) {
      for (int tap = 0; tap < kernel; tap++) {
        if (outRow * stride - padding + tap * dilation == inRow) {
          return true;
        }
      }
      return false;
    }

    /** Which part a row belongs to: the last one that begins at or before it. */
    int owner(int row, int extent) {
      int owner = 0;
      for (int part = 1; part < parts; part++) {
        owner = row >= Math.floor((double) extent * part / parts) ? part : owner;
      }
      return owner;
    }

    ParadlHalo forward() {
      int before = 0;
      int after = 0;
      for (int part = 0; part < parts; part++) {
        TreeSet<Integer> own = new TreeSet<>();
        TreeSet<Integer> needed = new TreeSet<>();
        for (int row = 0; row < in; row++) {
          if (owner(row, in) == part) {
            own.add(row);
          }
          for (int reader = 0; reader < out(); reader++) {
            if (owner(reader, out()) == part && reads(reader, row)) {
              needed.add(row);
            }
          }
        }
        before = Math.max(before, rowsBefore(own, needed));
        after = Math.max(after, rowsAfter(own, needed));
      }
      return new ParadlHalo(before, after);
    }

    ParadlHalo backward() {
      int before = 0;
      int after = 0;
      for (int part = 0; part < parts; part++) {
        TreeSet<Integer> own = new TreeSet<>();
        TreeSet<Integer> needed = new TreeSet<>();
        for (int reader = 0; reader < out(); reader++) {
          if (owner(reader, out()) == part) {
            own.add(reader);
          }
          for (int row = 0; row < in; row++) {
            if (owner(row, in) == part && reads(reader, row)) {
              needed.add(reader);
            }
          }
        }
        before = Math.max(before, rowsBefore(own, needed));
        after = Math.max(after, rowsAfter(own, needed));
      }
      return new ParadlHalo(before, after);
    }

    /** Never too few; too many only where windows begin or lie in the padding. */
    void check(ParadlHalo needed, ParadlHalo given) {
      int before = given.before() - needed.before();
      int after = given.after() - needed.after();
      assertTrue(before >= 0 && after >= 0, this + " needs " + needed + " and gets " + given);
      assertEquals(given.before() + given.after(), given.rows());
      if (padding <= reach()) {
        assertTrue(
            before < dilation && after < dilation, this + " needs " + needed + " of " + given);
      }
    }

    private static int rowsBefore(TreeSet<Integer> own, TreeSet<Integer> needed) {
      return needed.isEmpty() ? 0 : Math.max(0, own.first() - needed.first());
    }

    private static int rowsAfter(TreeSet<Integer> own, TreeSet<Integer> needed) {
      return needed.isEmpty() ? 0 : Math.max(0, needed.last() - own.last());
    }
  }

  @RepeatedTest(value = 300, name = SmallNet.SEEDED)
  void aPartGetsTheRowsThatItsOutputsRead(RepetitionInfo seed) {
    Axis a = Axis.random(new SplittableRandom(seed.getCurrentRepetition()));
    ParadlHalo halo = ParadlHalo.forward(a.in, a.out(), a.reach(), a.stride, a.padding, a.parts);
    a.check(a.forward(), halo);
  }

  @RepeatedTest(value = 300, name = SmallNet.SEEDED)
  void aPartGetsTheGradientsOfTheRowsThatReadIt(RepetitionInfo seed) {
    Axis a = Axis.random(new SplittableRandom(seed.getCurrentRepetition()));
    ParadlHalo halo = ParadlHalo.backward(a.in, a.out(), a.reach(), a.stride, a.padding, a.parts);
    a.check(a.backward(), halo);
  }

  @RepeatedTest(value = 50, name = SmallNet.SEEDED)
  void partsCoverAnAxisWithoutOverlap(RepetitionInfo seed) {
    Axis a = Axis.random(new SplittableRandom(seed.getCurrentRepetition()));
    int largest = 0;
    for (int part = 0; part < a.parts; part++) {
      int rows = ParadlHalo.start(a.in, part + 1, a.parts) - ParadlHalo.start(a.in, part, a.parts);
      for (int row = 0; row < rows; row++) {
        assertEquals(part, a.owner(ParadlHalo.start(a.in, part, a.parts) + row, a.in));
      }
      largest = Math.max(largest, rows);
    }
    assertEquals(0, ParadlHalo.start(a.in, 0, a.parts));
    assertEquals(a.in, ParadlHalo.start(a.in, a.parts, a.parts));
    assertEquals(largest, ParadlHalo.largest(a.in, a.parts));
  }

  /** ParaDL's ⌊K/2⌋ on either side, where the kernel is odd, padded, and moves by one. */
  @Test
  void anOddPaddedKernelReadsHalfOfItselfFromEitherSide() {
    for (int kernel : new int[] {1, 3, 5, 7}) {
      int half = kernel / 2;
      assertEquals(new ParadlHalo(half, half), ParadlHalo.forward(24, 24, kernel - 1, 1, half, 4));
      assertEquals(new ParadlHalo(half, half), ParadlHalo.backward(24, 24, kernel - 1, 1, half, 4));
      assertEquals(2 * half, ParadlHalo.forward(24, 24, kernel - 1, 1, half, 4).rows());
    }
  }

  @Test
  void windowsThatDoNotOverlapReadNothingOfOthers() {
    assertEquals(ParadlHalo.NONE, ParadlHalo.forward(24, 12, 1, 2, 0, 4));
    assertEquals(ParadlHalo.NONE, ParadlHalo.backward(24, 12, 1, 2, 0, 4));
  }

  @Test
  void emptyPartsAreRefused() {
    var refusal =
        assertThrows(IllegalArgumentException.class, () -> ParadlHalo.forward(3, 3, 2, 1, 1, 4));
    assertEquals("no part may be empty: parts=4, in=3, out=3", refusal.getMessage());
  }
}
