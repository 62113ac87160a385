package dev.pipewright.bench.serve;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** The pages of {@code serve} under load: how many are answered how quickly. */
public final class ServeLoad implements Reproduction {
  private static final int USERS = 10;
  private static final double BAR = 0.3; // seconds, of the 95th percentile

  private final int rate;
  private final int seconds;

  /** With the properties {@code serve.rate} and {@code serve.seconds}. */
  public ServeLoad() {
    this(Integer.getInteger("serve.rate", 50), Integer.getInteger("serve.seconds", 60));
  }

  /**
   * Of a given load.
   *
   * @param rate requests a second
   */
  ServeLoad(int rate, int seconds) {
    this.rate = rate;
    this.seconds = seconds;
  }

  /**
   * What was measured.
   *
   * @param arrivals replies to requests at fixed times
   * @param visits replies to users at once
   * @param unanswered studies that were asked at fixed times and got no answer
   */
  record Measured(List<Reply> arrivals, List<Reply> visits, long unanswered) {
    List<Reply> wrong() {
      return Stream.concat(arrivals.stream(), visits.stream())
          .filter(each -> each.error().isPresent())
          .toList();
    }
  }

  @Override
  public String name() {
    return "serve-load";
  }

  @Override
  public String summary() {
    return "How quickly the pages of `serve` answer under load.";
  }

  @Override
  public Report run(Reference reference) {
    try {
      String setting = setting();
      return report(setting, measure());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  Measured measure() throws IOException, InterruptedException {
    try (LoadedSite site = LoadedSite.open()) {
      List<Reply> arrivals = Load.open(site, rate, seconds);
      long unanswered = 0;
      for (Reply each : arrivals) {
        if (each.kind().equals(RequestKind.STUDY.name())
            && !(each.link().isPresent() && site.awaitAnswer(each.link().get()))) {
          unanswered++;
        }
      }
      return new Measured(arrivals, Load.users(site, USERS, visit()), unanswered);
    }
  }

  private Report report(String setting, Measured measured) {
    Report report = new Report("Served pages under load").paragraph(setting);
    double p95 = percentile(measured.arrivals(), 0.95);
    report.paragraph(
        "p95 of all %d requests: %s ms (bar %s ms, %s); errors: %d; new studies without an answer: %d."
            .formatted(
                measured.arrivals().size(),
                Numbers.milliseconds(p95),
                Numbers.milliseconds(BAR),
                p95 <= BAR ? "holds" : "misses",
                wrong(measured.arrivals()),
                measured.unanswered()));
    report.heading("Requests at fixed times").table(table(measured.arrivals()));
    report.heading("Ten users at once").table(table(measured.visits()));
    List<String> errors =
        measured.wrong().stream()
            .map(each -> each.kind() + ": " + each.error().orElse(""))
            .distinct()
            .toList();
    if (!errors.isEmpty()) {
      report.paragraph("Errors: " + String.join("; ", errors) + ".");
    }
    return report;
  }

  private String setting() {
    String command =
        "java -XX:+UseSerialGC -Dserve.rate=%d -Dserve.seconds=%d -cp 'bench/target/pipewright-bench.jar:bench/target/lib/*' dev.pipewright.bench.Reproduce serve-load"
            .formatted(rate, seconds);
    String machine =
        "JDK %d, %d processors, load average %s before the requests"
            .formatted(
                Runtime.version().feature(),
                Runtime.getRuntime().availableProcessors(),
                Numbers.fixed(
                    ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(), 1));
    String arrivals =
        "Requests are due at fixed times, %d a second for %d s, whether or not earlier ones are answered; times count from when a request is due until all of its response is there, in milliseconds."
            .formatted(rate, seconds);
    String studies =
        "Every ten seconds one asks a new study, whose search of up to 5 s goes on meanwhile; its response waits up to 0.2 s for a mistake to show.";
    String users =
        "Then ten users at once ask a new study each and look at one page after the other, for 0.1 s each, during %d s."
            .formatted(visit());
    return String.join(
        " ",
        "`" + command + "`, " + machine + ".",
        "Site and requests share one process and the loopback address; the site has just started and"
            + " holds four studies. Exports and comparisons repeat, and the site keeps the last of"
            + " them.",
        arrivals,
        studies,
        users);
  }

  private int visit() {
    return Math.max(1, seconds / 4);
  }

  private static long wrong(List<Reply> replies) {
    return replies.stream().filter(each -> each.error().isPresent()).count();
  }

  private static Markdown table(List<Reply> replies) {
    Markdown table = new Markdown("request", "count", "median", "p95", "worst", "errors");
    List<String> kinds =
        new ArrayList<>(RequestKind.PAGES.stream().map(RequestKind::name).toList());
    kinds.add(RequestKind.STUDY.name());
    for (String kind : kinds) {
      row(table, kind, replies.stream().filter(each -> each.kind().equals(kind)).toList());
    }
    row(table, "all", replies);
    return table;
  }

  private static void row(Markdown table, String name, List<Reply> replies) {
    table.row(
        name,
        replies.size(),
        Numbers.milliseconds(percentile(replies, 0.5)),
        Numbers.milliseconds(percentile(replies, 0.95)),
        Numbers.milliseconds(percentile(replies, 1)),
        wrong(replies));
  }

  /** The least time within which this share of the requests is answered; NaN of none. */
  private static double percentile(List<Reply> replies, double share) {
    double[] seconds = replies.stream().mapToDouble(Reply::seconds).toArray();
    Arrays.sort(seconds);
    int rank = (int) Math.ceil(share * seconds.length);
    return seconds.length == 0 ? Double.NaN : seconds[Math.max(0, rank - 1)];
  }
}
