package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class SamplerTest {
  @RepeatedTest(100)
  void everyEpochHasEverySampleOnce(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int samples = random.nextInt(1, 3000);
    Sampler sampler = new Sampler(samples, random.nextLong());
    for (long epoch : new long[] {0, 1, 7}) {
      long[] numbers = sampler.numbers(epoch * samples, samples);
      Arrays.sort(numbers);
      assertArrayEquals(LongStream.range(0, samples).toArray(), numbers);
    }
  }

  @Test
  void tenMillionSamplesNeedNoTable() {
    int samples = 10_000_000;
    Sampler sampler = new Sampler(samples, 3);
    BitSet seen = new BitSet(samples);
    for (int position = 0; position < samples; position += 100_000) {
      for (long number : sampler.numbers(position, 100_000)) {
        seen.set((int) number);
      }
    }
    assertEquals(samples, seen.cardinality());
  }

  @RepeatedTest(50)
  void batchesAreCutsOfOneOrderHoweverLargeTheyAre(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int samples = random.nextInt(1, 500);
    long order = random.nextLong();
    long[] whole = new Sampler(samples, order).numbers(0, 1000);
    int first = random.nextInt(1000);
    int count = random.nextInt(1001 - first);
    long[] part = new Sampler(samples, order).numbers(first, count);
    assertArrayEquals(Arrays.copyOfRange(whole, first, first + count), part);
  }

  @Test
  void ordersOfEpochsAndSeedsDiffer() {
    Sampler sampler = new Sampler(1000, 1);
    assertFalse(Arrays.equals(sampler.numbers(0, 1000), sampler.numbers(1000, 1000)));
    assertFalse(Arrays.equals(sampler.numbers(0, 1000), new Sampler(1000, 2).numbers(0, 1000)));
    assertEquals(0, sampler.epoch(999));
    assertEquals(1, sampler.epoch(1000));
  }

  /** A tenth of an epoch holds of each tenth of the numbers as much as chance would give it. */
  @RepeatedTest(20)
  void ordersAreMixedWell(RepetitionInfo seed) {
    int samples = 10_000;
    long[] order = new Sampler(samples, seed.getCurrentRepetition()).numbers(0, samples);
    double chiSquare = 0;
    int[][] count = new int[10][10];
    for (int i = 0; i < samples; i++) {
      count[i / 1000][(int) order[i] / 1000]++;
    }
    for (int[] tenth : count) {
      for (int found : tenth) {
        chiSquare += (found - 100) * (found - 100) / 100.0;
      }
    }
    assertTrue(chiSquare < 81 + 5 * Math.sqrt(2 * 81), "chiSquare=" + chiSquare);
  }
}
