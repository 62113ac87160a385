package dev.pipewright.app.report.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.reasons.Reasons;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TerminalReportTest {
  @Test
  void threeStagesEightMicroBatches() {
    assertEquals(
        """
        vgg-19 on dapple-a
        hybrid: 3 stages, 8 micro-batches of 1, schedule 1f1b, gradients overlapped

          step time          361 ms  simulated; estimate 350 ms, simulation +3.1 %
          speed-up            3.99×  over one device (1.44 s)
          lower bound        240 ms  work / devices; estimate 45.9 % above
          peak memory      4.50 GiB  on stage 0, 28.1 % of 16 GiB
          idle               33.5 %  of the devices' time without a pass; 28.6 % of the longest span
          throughput  103 samples/s  5.00 TFLOP/s of the model per device, 32.0 % of its peak
          batch          64 samples  the global batch; micro-batches of 4 to 8 per rank
          precision            fp32  momentum, 12 bytes per parameter; plans leave 6.0 % of the memory free

                                      in  re-                                        all-  memory
          stage  layers  devices  flight  compute      forward  backward     send  reduce  GiB
              0     0–9  0–1           3  stage-input    10 ms     20 ms  3.00 ms   25 ms  ██░░░░ 4.5 / 16.0
              1   10–19  2–3           2  –              10 ms     20 ms  3.00 ms   25 ms  ██░░░░ 4.0 / 16.0
              2   20–29  4–5           1  –              10 ms     20 ms        –   25 ms  █░░░░░ 3.5 / 16.0

          memory in
          GiB        parameters  gradients  optimizer  activations   all
          stage 0          0.75       0.75       1.50         1.50  4.50
          stage 1          0.75       0.75       1.50         1.00  4.00
          stage 2          0.75       0.75       1.50         0.50  3.50

          bound by    stage 0 computes 2.1 % longer than the average stage and its gradients are exchanged
                      after its last backward pass (25.0 ms)
          runner-up   straight pipeline 0–9 ×2: 433 ms, +20.0 %

                                                          micro-                       against        peak
          plan               layers × devices  schedule  batches  estimate  simulated     best      memory
          hybrid             3 stages ×2       1f1b        8 × 1    350 ms     361 ms     best    4.50 GiB
          straight pipeline  0–9 ×2            1f1b        8 × 1    420 ms     433 ms  +20.0 %    3.50 GiB
          data parallel      0–9 ×2            1f1b        1 × 1    595 ms     614 ms  +70.0 %  ! 3.50 GiB
          ! does not fit

          planned     in 21.3 ms by dapple with cost model pipewright; exhaustive over contiguous stages on
                      whole machines, 12,345 partial plans
          times       measured: vgg-19.json, V100-SXM2-16GB, 2024-05-01
        """,
        TerminalReport.of(Pipelines.picture("vgg-19 on dapple-a", 3, 8)));
  }

  @Test
  void staysWithinAHundredColumns() {
    for (int stages : new int[] {1, 2, 4, 16}) {
      TerminalReport.of(Pipelines.picture("wide", stages, 64))
          .lines()
          .forEach(line -> assertTrue(TextWidth.of(line) <= TerminalReport.WIDTH, line));
    }
  }

  @Test
  void columnsAlignWhateverTheLetters() {
    Picture plain = Pipelines.picture("plain", 4, 8);
    Planning planning = plain.planning();
    Candidate wide = planning.candidates().get(1);
    Candidate named = renamed(wide, "straße, 並列 und o\u0308l");
    String text =
        TerminalReport.of(with(plain, List.of(planning.candidates().get(0), named, wide)));
    List<String> rows = text.lines().filter(line -> line.contains(" 1f1b  ")).toList();
    assertEquals(3, rows.size());
    int column = columnOf(rows.get(0), " 1f1b  ");
    for (String row : rows) {
      assertEquals(column, columnOf(row, " 1f1b  "), row);
    }
  }

  @Test
  void saysWhenNothingFits() {
    Picture plain = Pipelines.picture("too large", 2, 4);
    Planning planning = plain.planning();
    Planning nothing =
        new Planning(
            planning.planner(),
            planning.costModel(),
            Optional.empty(),
            List.of(planning.candidates().get(2)),
            planning.lowerBound(),
            "stage 0 needs 3.50 GiB but its device has 2.00 GiB",
            planning.serialSeconds(),
            planning.search());
    String text = TerminalReport.of(with(plain, nothing));
    assertTrue(text.contains("Nothing fits: stage 0 needs 3.50 GiB"), text);
    assertTrue(text.contains("! 3.50 GiB"), text);
    assertTrue(HtmlReport.of(with(plain, nothing)).contains("Nothing fits."));
  }

  @Test
  void aRivalThatTakesAsLongIsEqual() {
    Picture picture = Pipelines.picture("equals", 3, 8);
    Candidate best = picture.planning().best().orElseThrow();
    String text = TerminalReport.of(with(picture, List.of(best, renamed(best, "another"))));
    assertTrue(text.contains(" equal "), text);
    assertFalse(text.contains("+0.0 %"), text);
  }

  @Test
  void colours() {
    Picture picture = Pipelines.picture("colours", 4, 8);
    assertFalse(TerminalReport.of(picture).contains("\u001b"));
    String coloured = TerminalReport.of(picture, 100, true);
    assertEquals(TerminalReport.of(picture), coloured.replaceAll("\u001b\\[[0-9]+m", ""));
  }

  private static int columnOf(String row, String words) {
    return TextWidth.of(row.substring(0, row.indexOf(words)));
  }

  private static Candidate renamed(Candidate candidate, String kind) {
    return new Candidate(kind, candidate.plan(), candidate.estimate(), candidate.simulated());
  }

  private static Picture with(Picture picture, List<Candidate> candidates) {
    Planning planning = picture.planning();
    return with(
        picture,
        new Planning(
            planning.planner(),
            planning.costModel(),
            planning.best(),
            candidates,
            planning.lowerBound(),
            planning.binding(),
            planning.serialSeconds(),
            planning.search()));
  }

  private static Picture with(Picture picture, Planning planning) {
    return new Picture(
        picture.title(),
        planning,
        planning.best().isEmpty() ? Optional.empty() : picture.timeline(),
        picture.planningSeconds(),
        picture.provenance(),
        planning.best().isEmpty() ? Optional.empty() : picture.training(),
        Reasons.NONE);
  }
}
