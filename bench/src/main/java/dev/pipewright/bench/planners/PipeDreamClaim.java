package dev.pipewright.bench.planners;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * DAPPLE's claim (§VI-F, figure 13): under synchronous training its plans are up to 3.23 times as
 * fast as PipeDream's.
 */
final class PipeDreamClaim {
  private static final double PUBLISHED = 3.23;
  private static final int GIB = 16;
  private static final List<String> CLUSTERS = List.of("dapple-a", "dapple-a:4x8");

  /**
   * Networks of table VII with its batches; BERT-48 stands for BERT-large, which was not published.
   */
  private record Line(String network, int globalBatch) {}

  private static final List<Line> LINES =
      List.of(
          new Line("vgg-19", 1024),
          new Line("amoeba-36", 128),
          new Line("bert-48", 128),
          new Line("xlnet-36", 128));

  private PipeDreamClaim() {}

  static void addTo(Report report, Reference reference, List<Match> all) {
    List<Match> usual = all.stream().filter(match -> match.gib() == GIB).toList();
    List<Match> published = published(reference);
    report
        .heading("DAPPLE's claim: against PipeDream's plans under synchronous training")
        .paragraph(
            ("Published: up to %.2f× (§VI-F, figure 13; four networks on 2×8 and 4×8 devices of A). Step"
                    + " of PipeDream's plan over ours, on the networks and clusters of the paper: %s."
                    + " Over all rows above in which both fit: %s; with %d GiB, as in the paper: %s.")
                .formatted(PUBLISHED, words(published), words(all), GIB, words(usual)))
        .paragraph(
            "Unlike in the paper all steps are simulated, PipeDream's plans get the micro-batches, the"
                + " warm-up and the recomputation that suit them best (the paper does not say how it"
                + " chose them), BERT-48 stands for BERT-large, whose profile was not published, the"
                + " profiles name one batch and their parts cost their share of its time, and ours"
                + " may be data parallelism whose all-reduce overlaps. PipeDream plans at the"
                + " mini-batch that was measured, transfers charged, and counts one summing of gradients"
                + " for each, where a synchronous step has one for many micro-batches.")
        .heading("The paper's networks and clusters")
        .paragraph(
            "Whole batch: PipeDream planning as if the global batch were its mini-batch, so that it"
                + " counts one summing of gradients for each.")
        .table(table(published, wholeBatch(reference)))
        .heading("All networks, %d GiB".formatted(GIB))
        .table(table(usual, List.of()));
  }

  private static List<Match> published(Reference reference) {
    List<Match> matches = new ArrayList<>();
    for (Line line : LINES) {
      for (String name : CLUSTERS) {
        int miniBatch = ReferenceNetwork.of(line.network).miniBatch();
        planned(reference, line, name, miniBatch)
            .map(one -> match(line, name, one))
            .ifPresent(matches::add);
      }
    }
    return matches;
  }

  private static Match match(Line line, String cluster, PlannedNetwork network) {
    return new Match(
        line.network + " (" + line.globalBatch + ")",
        cluster,
        GIB,
        Entry.of(Contender.called(PipeDreamStages.NAME), network),
        Entry.of(Contender.called(Contender.OURS), network));
  }

  /** Seconds of the plans that PipeDream makes for mini-batches as large as the global batch. */
  private static List<Double> wholeBatch(Reference reference) {
    List<Double> seconds = new ArrayList<>();
    for (Line line : LINES) {
      for (String name : CLUSTERS) {
        planned(reference, line, name, line.globalBatch)
            .map(one -> Entry.of(Contender.called(PipeDreamStages.NAME), one).seconds())
            .ifPresent(seconds::add);
      }
    }
    return seconds;
  }

  private static Optional<PlannedNetwork> planned(
      Reference reference, Line line, String name, int miniBatch) {
    ReferenceNetwork network = ReferenceNetwork.of(line.network);
    Cluster cluster = Networks.cluster(name).withMemory(Bytes.gib(GIB));
    return network.in(reference)
        ? Optional.of(
            new PlannedNetwork(network.costs(reference, cluster), line.globalBatch, miniBatch))
        : Optional.empty();
  }

  /** The most, where that is, and the median. */
  private static String words(List<Match> matches) {
    List<Match> sorted =
        matches.stream()
            .filter(match -> Double.isFinite(match.ratio()))
            .sorted(Comparator.comparingDouble(Match::ratio))
            .toList();
    Match most = sorted.get(sorted.size() - 1);
    return "at most %.2f (%s, %d GiB), median %.2f, least %.2f, of %d"
        .formatted(
            most.ratio(),
            most.label(),
            most.gib(),
            PlannersSideBySide.median(sorted.stream().mapToDouble(Match::ratio).toArray()),
            sorted.get(0).ratio(),
            sorted.size());
  }

  /**
   * Plans side by side.
   *
   * @param wholeBatch of PipeDream's plans for the whole batch, in the same order; or nothing
   */
  private static Markdown table(List<Match> matches, List<Double> wholeBatch) {
    List<String> header = new ArrayList<>(List.of("network (batch)", "on", "PipeDream's, s"));
    if (!wholeBatch.isEmpty()) {
      header.add("whole batch, s");
    }
    header.addAll(List.of("ours, s", "ratio", "PipeDream's plan", "our plan"));
    Markdown table = new Markdown(header.toArray(String[]::new));
    for (int i = 0; i < matches.size(); i++) {
      Match match = matches.get(i);
      List<Object> row = new ArrayList<>();
      row.add(match.network());
      row.add(PlannersSideBySide.letter(match.cluster()));
      row.add(Numbers.significant(match.theirs().seconds()));
      if (!wholeBatch.isEmpty()) {
        row.add(Numbers.significant(wholeBatch.get(i)));
      }
      row.add(Numbers.significant(match.ours().seconds()));
      row.add(Numbers.fixed(match.ratio(), 2));
      row.add(match.theirs().words());
      row.add(match.ours().words());
      table.row(row.toArray());
    }
    return table;
  }
}
