package dev.pipewright.app.report.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.chart.SvgReader;
import dev.pipewright.app.report.compare.CyclicMemoryCurves.Workers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.w3c.dom.Element;

class CyclicMemorySvgTest {
  private static CyclicMemoryCurves random(SplittableRandom random) {
    double most = Math.pow(10, random.nextDouble(0, 18));
    double[] inStep = random.doubles(CyclicMemoryCurves.INTERVALS, 0, most).toArray();
    inStep[random.nextInt(inStep.length)] = most;
    List<Workers> cyclic = new ArrayList<>();
    for (int i = random.nextInt(1, CyclicMemoryCurves.MOST_SHOWN + 1); i > 0; i--) {
      double share = random.nextBoolean() ? 0.5 : random.nextDouble(0.5, 1);
      double[] bytes = Arrays.stream(inStep).map(value -> value * share).toArray();
      cyclic.add(new Workers(random.nextInt(1, 4097), most * share, bytes));
    }
    return new CyclicMemoryCurves(
        "a name that goes on ".repeat(random.nextInt(1, 12)),
        random.nextInt(2, 2_000_000),
        Math.pow(10, random.nextDouble(-9, 9)),
        random.nextDouble(1e12),
        random.nextBoolean(),
        most,
        inStep,
        cyclic);
  }

  @RepeatedTest(value = 60, name = "seed {currentRepetition}")
  void nothingIsOutsideThePictureAndNoNameCoversAnother(RepetitionInfo seed) throws Exception {
    CyclicMemoryCurves curves = random(new SplittableRandom(seed.getCurrentRepetition()));
    String picture = CyclicMemorySvg.of(curves);
    SvgReader.assertInside(picture);
    assertFalse(picture.contains("NaN") || picture.contains("Infinity"));
    List<Element> names =
        SvgReader.all(SvgReader.parse(picture), "text").stream()
            .filter(text ->
                text.getTextContent().contains(" cyclic: ")
                    || text.getTextContent().startsWith("in step")
                    || text.getTextContent().startsWith("half"))
            .toList();
    assertEquals(curves.cyclic().size() + 2, names.size());
    for (int i = 1; i < names.size(); i++) {
      double apart = SvgReader.number(names.get(i), "y") - SvgReader.number(names.get(i - 1), "y");
      assertTrue(apart >= 12, "only " + apart + " pixels apart");
    }
  }

  @RepeatedTest(value = 60, name = "seed {currentRepetition}")
  void textFitsTheTerminal(RepetitionInfo seed) {
    CyclicMemoryCurves curves = random(new SplittableRandom(seed.getCurrentRepetition()));
    String text = CyclicMemoryText.of(curves, 80, false);
    assertTrue(text.lines().skip(1).allMatch(line -> line.length() <= 80), text);
    List<String> lines = text.substring(text.indexOf("over one")).lines().skip(1).toList();
    assertEquals(curves.cyclic().size() + 1, lines.size());
    assertTrue(lines.get(0).contains("in step") && lines.get(0).contains("█"), text);
  }
}
