package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class SyntheticDataTest {
  private static final DatasetRequirements IMAGES =
      new DatasetRequirements(
          "cnn",
          List.of(new DatasetRequirements.Input.Field(Shape.of(3, 12, 12))),
          new DatasetRequirements.Answer.Classes(5));
  private static final DatasetRequirements TOKENS =
      new DatasetRequirements(
          "gpt",
          List.of(new DatasetRequirements.Input.Tokens(20, 50)),
          new DatasetRequirements.Answer.Tokens(20, 50));
  private static final DatasetRequirements SENTENCES =
      new DatasetRequirements(
          "bert",
          List.of(new DatasetRequirements.Input.Tokens(20, 50)),
          new DatasetRequirements.Answer.Classes(768));
  private static final DatasetRequirements VOLUMES =
      new DatasetRequirements(
          "cosmoflow",
          List.of(new DatasetRequirements.Input.Field(Shape.of(2, 12, 12, 12))),
          new DatasetRequirements.Answer.Quantities(4));
  private static final DatasetRequirements PAIRS =
      new DatasetRequirements(
          "gnmt",
          List.of(
              new DatasetRequirements.Input.Tokens(6, 30),
              new DatasetRequirements.Input.Tokens(8, 40)),
          new DatasetRequirements.Answer.Tokens(8, 40));

  private static TrainingData open(DatasetRequirements wanted) {
    return DatasetSpec.parse("synthetic:samples=2000,seed=5").open(wanted);
  }

  private static float[] floats(HostValues values) {
    return ((HostValues.Floating) values).numbers();
  }

  private static long[] whole(HostValues values) {
    return ((HostValues.Whole) values).numbers();
  }

  private static double[] flat(Dataset data, long number) {
    double[] all = new double[0];
    List<HostValues> values = new ArrayList<>(data.inputs(new long[] {number}));
    values.add(data.target(new long[] {number}));
    for (HostValues value : values) {
      double[] more =
          switch (value) {
            case HostValues.Floating(float[] numbers, long[] shape) -> {
              double[] wide = new double[numbers.length];
              Arrays.setAll(wide, i -> numbers[i]);
              yield wide;
            }
            case HostValues.Whole(long[] numbers, long[] shape) ->
                Arrays.stream(numbers).asDoubleStream().toArray();
          };
      int before = all.length;
      all = Arrays.copyOf(all, before + more.length);
      System.arraycopy(more, 0, all, before, more.length);
    }
    return all;
  }

  @RepeatedTest(5)
  void aSampleFollowsFromItsNumberAlone(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    for (DatasetRequirements wanted : List.of(IMAGES, TOKENS, SENTENCES, VOLUMES, PAIRS)) {
      Dataset one = open(wanted).training();
      Dataset other = open(wanted).training();
      long[] numbers = random.longs(4, 0, one.samples()).toArray();
      HostValues batch = one.inputs(numbers).get(0);
      int size =
          (batch instanceof HostValues.Floating f ? f.numbers().length : whole(batch).length) / 4;
      for (int i = 0; i < 4; i++) {
        double[] alone = flat(other, numbers[i]);
        assertArrayEquals(flat(one, numbers[i]), alone);
        for (int k = 0; k < size; k += 7) {
          double inBatch =
              batch instanceof HostValues.Floating f
                  ? f.numbers()[i * size + k]
                  : whole(batch)[i * size + k];
          assertEquals(alone[k], inBatch);
        }
      }
    }
  }

  @Test
  void otherSeedsGiveOtherSamplesAndHeldOutOnesAreNew() {
    for (DatasetRequirements wanted : List.of(IMAGES, TOKENS, SENTENCES, VOLUMES, PAIRS)) {
      TrainingData data = open(wanted);
      Dataset other = DatasetSpec.parse("synthetic:samples=2000,seed=6").open(wanted).training();
      assertNotEquals(Arrays.toString(flat(data.training(), 0)), Arrays.toString(flat(other, 0)));
      assertEquals(2000, data.training().samples());
      assertEquals(200, data.heldOut().samples());
      String heldOut = Arrays.toString(flat(data.heldOut(), 0));
      for (int i = 0; i < 100; i++) {
        assertNotEquals(heldOut, Arrays.toString(flat(data.training(), i)));
      }
    }
  }

  /** The mean of each class's images tells held-out images apart. */
  @Test
  void imagesAreLearnt() {
    TrainingData data = open(IMAGES);
    long[] numbers = LongStream.range(0, 2000).toArray();
    float[] images = floats(data.training().inputs(numbers).get(0));
    long[] classes = whole(data.training().target(numbers));
    int size = 3 * 12 * 12;
    double[][] means = new double[5][size];
    int[] count = new int[5];
    for (long found : classes) {
      count[(int) found]++;
    }
    assertTrue(
        Arrays.stream(count).allMatch(c -> c > 300 && c < 500), () -> Arrays.toString(count));
    for (int i = 0; i < classes.length * size; i++) {
      int found = (int) classes[i / size];
      means[found][i % size] += images[i] / count[found];
    }
    long[] heldOut = LongStream.range(0, 200).toArray();
    float[] asked = floats(data.heldOut().inputs(heldOut).get(0));
    long[] right = whole(data.heldOut().target(heldOut));
    int correct = 0;
    for (int i = 0; i < 200; i++) {
      correct += nearest(means, asked, i * size) == right[i] ? 1 : 0;
    }
    assertTrue(correct > 190, "correct=" + correct);
  }

  private static int nearest(double[][] means, float[] values, int from) {
    int best = 0;
    double least = Double.POSITIVE_INFINITY;
    for (int c = 0; c < means.length; c++) {
      double distance = 0;
      for (int k = 0; k < means[c].length; k++) {
        distance += Math.pow(means[c][k] - values[from + k], 2);
      }
      if (distance < least) {
        least = distance;
        best = c;
      }
    }
    return best;
  }

  /** Counting who follows whom guesses about every second token, as the source promises. */
  @Test
  void tokensAreLearnt() {
    TrainingData data = open(TOKENS);
    long[] numbers = LongStream.range(0, 2000).toArray();
    long[] read = whole(data.training().inputs(numbers).get(0));
    long[] next = whole(data.training().target(numbers));
    int[][] followed = new int[50][50];
    for (int i = 0; i < read.length; i++) {
      followed[(int) read[i]][(int) next[i]]++;
      assertTrue(i % 20 == 19 || next[i] == read[i + 1], "the answer is the next token");
    }
    long[] heldOut = LongStream.range(0, 200).toArray();
    long[] asked = whole(data.heldOut().inputs(heldOut).get(0));
    long[] right = whole(data.heldOut().target(heldOut));
    int correct = 0;
    for (int i = 0; i < asked.length; i++) {
      int[] row = followed[(int) asked[i]];
      int best = 0;
      for (int token = 1; token < 50; token++) {
        best = row[token] > row[best] ? token : best;
      }
      correct += best == right[i] ? 1 : 0;
    }
    double share = (double) correct / asked.length;
    assertTrue(share > 0.47 && share < 0.62, "share=" + share);
  }

  /** Which token follows which tells the source of a sequence. */
  @Test
  void sourcesOfTokensAreLearnt() {
    TrainingData data = open(SENTENCES);
    long[] numbers = LongStream.range(0, 2000).toArray();
    long[] read = whole(data.training().inputs(numbers).get(0));
    long[] classes = whole(data.training().target(numbers));
    double[][][] followed = new double[10][50][50];
    for (int i = 0; i < read.length; i++) {
      if (i % 20 < 19) {
        followed[(int) classes[i / 20]][(int) read[i]][(int) read[i + 1]]++;
      }
    }
    long[] heldOut = LongStream.range(0, 200).toArray();
    long[] asked = whole(data.heldOut().inputs(heldOut).get(0));
    long[] right = whole(data.heldOut().target(heldOut));
    int correct = 0;
    for (int i = 0; i < 200; i++) {
      int best = 0;
      double most = Double.NEGATIVE_INFINITY;
      for (int source = 0; source < 10; source++) {
        double score = 0;
        for (int step = 0; step < 19; step++) {
          score +=
              Math.log(
                  0.1
                      + followed[source][(int) asked[i * 20 + step]][
                          (int) asked[i * 20 + step + 1]]);
        }
        if (score > most) {
          most = score;
          best = source;
        }
      }
      correct += best == right[i] ? 1 : 0;
    }
    assertTrue(correct > 190, "correct=" + correct);
  }

  /** Level, strength and fineness of a field show in its mean, its deviation and its slopes. */
  @Test
  void volumesShowWhatTheyWereMadeWith() {
    Dataset data = open(VOLUMES).training();
    int count = 400;
    long[] numbers = LongStream.range(0, count).toArray();
    float[] fields = floats(data.inputs(numbers).get(0));
    float[] made = floats(data.target(numbers));
    int size = fields.length / count;
    double[][] seen = new double[3][count]; // mean, deviation, slope
    double[][] wanted = new double[4][count];
    for (int i = 0; i < count; i++) {
      double sum = 0;
      double squares = 0;
      double slopes = 0;
      for (int k = 0; k < size; k++) {
        double value = fields[i * size + k];
        sum += value;
        squares += value * value;
        slopes += k % 12 > 0 ? Math.pow(value - fields[i * size + k - 1], 2) : 0;
      }
      seen[0][i] = sum / size;
      double variance = squares / size - seen[0][i] * seen[0][i];
      seen[1][i] = Math.sqrt(variance);
      seen[2][i] = slopes / size / variance;
      for (int p = 0; p < 4; p++) {
        wanted[p][i] = made[i * 4 + p];
      }
    }
    assertTrue(correlation(seen[0], wanted[3]) > 0.8, "level " + correlation(seen[0], wanted[3]));
    assertTrue(
        correlation(seen[1], wanted[0]) > 0.6, "strength " + correlation(seen[1], wanted[0]));
    assertTrue(
        correlation(seen[2], wanted[1]) > 0.6, "fineness " + correlation(seen[2], wanted[1]));
  }

  private static double correlation(double[] a, double[] b) {
    double meanA = Arrays.stream(a).average().orElseThrow();
    double meanB = Arrays.stream(b).average().orElseThrow();
    double both = 0;
    double squareA = 0;
    double squareB = 0;
    for (int i = 0; i < a.length; i++) {
      both += (a[i] - meanA) * (b[i] - meanB);
      squareA += Math.pow(a[i] - meanA, 2);
      squareB += Math.pow(b[i] - meanB, 2);
    }
    return both / Math.sqrt(squareA * squareB);
  }

  @Test
  void translationsAreTheSentenceBackwardsInOtherWords() {
    Dataset data = open(PAIRS).training();
    long[] numbers = LongStream.range(0, 500).toArray();
    long[] sentences = whole(data.inputs(numbers).get(0));
    long[] soFar = whole(data.inputs(numbers).get(1));
    long[] answers = whole(data.target(numbers));
    Map<Long, Long> words = new HashMap<>();
    for (int i = 0; i < 500; i++) {
      for (int step = 0; step < 8; step++) {
        long answer = answers[i * 8 + step];
        if (step < 6) {
          long word = sentences[i * 6 + 5 - step];
          assertEquals(answer, words.computeIfAbsent(word, w -> answer));
        } else {
          assertEquals(SyntheticPairs.END, answer);
        }
        long before = step == 0 ? SyntheticPairs.BEGIN : answers[i * 8 + step - 1];
        assertEquals(before, soFar[i * 8 + step]);
      }
    }
    assertEquals(words.size(), new HashSet<>(words.values()).size(), "no two words become one");
    assertEquals(28, words.size());
    assertTrue(words.keySet().stream().allMatch(word -> word >= 2 && word < 30));
  }

  @Test
  void aNetworkWithAnyShapeGetsWhatItReads() {
    for (Shape shape : List.of(Shape.of(1024), Shape.of(1, 5, 9), Shape.of(4, 3, 5, 2))) {
      DatasetRequirements wanted =
          new DatasetRequirements(
              "net",
              List.of(new DatasetRequirements.Input.Field(shape)),
              new DatasetRequirements.Answer.Classes(3));
      HostValues read = open(wanted).training().inputs(new long[] {3, 4}).get(0);
      assertEquals(2 * shape.elements(), floats(read).length);
      assertEquals(1 + shape.extents().size(), ((HostValues.Floating) read).shape().length);
    }
  }
}
