package dev.pipewright.bench.fuzz;

import dev.pipewright.bench.fuzz.Campaign.Finding;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Ten thousand damaged files and messages of each kind, and command lines of each command. */
public final class Fuzz implements Reproduction {
  private static final int CASES = Integer.getInteger("fuzz.cases", 10_000);
  private static final int SHOWN = 20;

  @Override
  public String name() {
    return "fuzz";
  }

  @Override
  public String summary() {
    return "Damaged files, command lines and messages.";
  }

  @Override
  public Report run(Reference reference) {
    Path folder = folder();
    Campaign campaign = new Campaign(folder);
    List<String> targets = campaign.targets();
    List<List<Finding>> found =
        targets.parallelStream().map(target -> campaign.run(target, CASES)).toList();
    Markdown table = new Markdown("target", "cases", "findings");
    for (int i = 0; i < targets.size(); i++) {
      table.row(targets.get(i), CASES, found.get(i).size());
    }
    Report report =
        new Report("Damaged files, command lines and messages")
            .paragraph(
                "Each case is answered in one process. A finding is an internal failure, a hang, a"
                    + " stack trace, a number that is none, a refusal without the file's name or"
                    + " line, or more memory than a bound. Files of findings stay in "
                    + folder
                    + ".")
            .table(table);
    found.stream()
        .flatMap(List::stream)
        .limit(SHOWN)
        .forEach(finding -> report.paragraph(finding.toString()));
    return report;
  }

  private static Path folder() {
    try {
      return Files.createTempDirectory("pipewright-fuzz");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
