package dev.pipewright.server.export;

import dev.pipewright.app.cli.CommandLineProgram;
import dev.pipewright.formats.export.ExportCatalog;
import dev.pipewright.formats.export.ExportOptions;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.server.study.CommandRun;
import dev.pipewright.server.study.Recent;
import dev.pipewright.server.study.Turns;
import dev.pipewright.server.study.UploadedNetwork;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Exports plans with the command line's own program in this process, one at a time. A plan lies in
 * a folder of its own meanwhile. The last exports are kept, since a page and each file that it
 * offers are of the same one.
 */
public final class Exporter {
  private static final String PLAN = "plan.json";
  private static final int KEPT = 32;

  private record Asked(
      ByteBuffer plan, Optional<UploadedNetwork> network, String target, boolean nearest) {}

  private final CommandLineProgram program = new CommandLineProgram();
  private final Turns turns = new Turns();
  private final Recent<Asked, Exported> last = new Recent<>(KEPT);

  /**
   * Exports a plan.
   *
   * @param plan the file that {@code plan --out} wrote
   * @param network the file that the plan is for; empty where its network has a name
   * @param target a name of {@link ExportCatalog}
   * @param nearest whether to export the nearest plan where the target cannot say this one
   * @throws BadInputException where there is no such target, or the plan is for none or takes too
   *     long
   */
  public Exported export(
      byte[] plan, Optional<UploadedNetwork> network, String target, boolean nearest)
      throws InterruptedException {
    if (target.isEmpty()) {
      throw new BadInputException(
          "to: is missing; take one of " + String.join(", ", ExportCatalog.names()));
    }
    ExportCatalog.named("to", target, ExportOptions.NONE); // refuses what there is not
    Asked asked = new Asked(ByteBuffer.wrap(plan), network, target, nearest);
    Optional<Exported> known = last.find(asked);
    if (known.isPresent()) {
      return known.get();
    }
    Exported exported = turns.take(() -> run(plan, network, target, nearest));
    last.keep(asked, exported);
    return exported;
  }

  private Exported run(
      byte[] plan, Optional<UploadedNetwork> network, String target, boolean nearest)
      throws IOException {
    if (network.isEmpty()) {
      return run(plan, List.of(), target, nearest);
    }
    UploadedNetwork file = network.get();
    return file.lend(path -> {
      try {
        Exported exported = run(plan, List.of("--model", path), target, nearest);
        return exported.with(text -> file.named(text, path));
      } catch (BadInputException e) {
        throw new BadInputException(file.named(String.valueOf(e.getMessage()), path));
      }
    });
  }

  private Exported run(byte[] plan, List<String> model, String target, boolean nearest)
      throws IOException {
    Path folder = Files.createTempDirectory("pipewright-export-");
    try {
      Path file = Files.write(folder.resolve(PLAN), plan);
      Path out = folder.resolve("out");
      List<String> words =
          new ArrayList<>(command(file.toString(), target, nearest, out.toString()));
      words.addAll(model);
      CommandRun run = CommandRun.of(program, () -> false, words);
      String remarks = run.remarks().replace(folder + File.separator, "");
      if (run.status() >= CommandRun.WRONG_INPUT) {
        throw new BadInputException(remarks);
      }
      return new Exported(
          "pipewright " + String.join(" ", command(PLAN, target, nearest, "launch")),
          remarks.lines().toList(),
          CommandRun.files(out));
    } finally {
      CommandRun.delete(folder);
    }
  }

  private static List<String> command(String plan, String target, boolean nearest, String out) {
    List<String> words = new ArrayList<>(List.of("export", plan, "--to", target));
    if (nearest) {
      words.add("--nearest");
    }
    words.addAll(List.of("--out", out));
    return words;
  }
}
