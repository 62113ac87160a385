package dev.pipewright.server.inspect;

import dev.pipewright.app.cli.CommandLineProgram;
import dev.pipewright.formats.PlanFiles;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.server.study.CommandRun;
import dev.pipewright.server.study.Turns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Says what a file is, with the command line's own program in this process, one file at a time. A
 * file lies in a folder of its own while it is read, and no longer.
 */
public final class Inspector {
  private static final int MOST_LETTERS = 100_000; // of an answer

  private final CommandLineProgram program = new CommandLineProgram();
  private final Turns turns = new Turns();

  /**
   * What a plan is for, where its file does not say it.
   *
   * @param model a name of a network; empty where the user gives none
   * @param cluster a name of a cluster; likewise
   */
  public record For(String model, String cluster) {}

  /** Inspects a file; throws {@link BadInputException} where it takes too long. */
  public Inspection inspect(Upload upload, For given) throws InterruptedException {
    return turns.take(() -> stored(upload, given));
  }

  /**
   * Inspects a layout of Megatron-LM.
   *
   * @param pipeline ranks, in digits
   * @throws BadInputException where it takes too long
   */
  public Inspection layout(String layout, String pipeline) throws InterruptedException {
    List<String> words = List.of("check", "--megatron-layout=" + layout, "--pipeline", pipeline);
    String quoted = "'" + layout.replace("'", "'\\''") + "'";
    return turns.take(() ->
        inspection(
            layout,
            "a layout of Megatron-LM",
            run(words),
            Map.of(),
            List.of("pipewright check --megatron-layout=" + quoted + " --pipeline " + pipeline)));
  }

  private CommandRun run(List<String> words) {
    return CommandRun.of(program, () -> false, words);
  }

  private Inspection stored(Upload upload, For given) throws IOException {
    Path folder = Files.createTempDirectory("pipewright-inspect-");
    try {
      Path file = Files.write(folder.resolve(upload.stored()), upload.content());
      try {
        return read(upload, file, given);
      } catch (BadInputException e) {
        return refused(upload, upload.named(String.valueOf(e.getMessage()), file));
      }
    } finally {
      CommandRun.delete(folder);
    }
  }

  private Inspection read(Upload upload, Path file, For given) throws IOException {
    Glance glance = Glance.of(file);
    Optional<FileKind> found =
        FileKind.KNOWN.stream().filter(kind -> kind.begins().test(glance)).findFirst();
    if (found.isEmpty()) {
      throw BadInputException.in(file, "is " + Glance.NOTHING);
    }
    FileKind kind = found.get();
    if (kind.plan() && !PlanImports.isImport(file)) {
      checkNames(file);
    }
    List<String> more = kind.plan() ? options(given) : List.of();
    CommandRun answered = run(words(kind.answers(), file, more));
    Map<String, byte[]> files = new HashMap<>();
    if (!kind.draws().isEmpty() && answered.status() == 0) {
      Path out = file.resolveSibling("out");
      List<String> drawing = new ArrayList<>(words(kind.draws(), file, more));
      drawing.addAll(List.of("--out", out.toString()));
      run(drawing);
      files.putAll(CommandRun.files(out));
      files.keySet().retainAll(List.of("timeline.svg", "schedule.svg", "report.html"));
      files.replaceAll((name, content) -> name.endsWith(".svg") ? upload.named(content) : content);
    }
    List<String> next = kind.next().stream().map(each -> each.formatted(upload.quoted())).toList();
    CommandRun shown =
        new CommandRun(
            answered.status(),
            upload.named(answered.answer(), file),
            upload.named(answered.remarks(), file));
    return inspection(upload.name(), kind.words(), shown, files, next);
  }

  /** The command line's words are options before the file, which none can then be taken for. */
  private static List<String> words(String command, Path file, List<String> more) {
    List<String> words = new ArrayList<>(List.of(command));
    words.addAll(more);
    words.add(file.toString());
    return words;
  }

  private static List<String> options(For given) {
    List<String> options = new ArrayList<>();
    if (!given.model().isEmpty()) {
      options.addAll(List.of("--model", given.model()));
    }
    if (!given.cluster().isEmpty()) {
      options.addAll(List.of("--cluster", given.cluster()));
    }
    return options;
  }

  /** A plan may name a file, which would be one of this machine's: only names of the zoo pass. */
  private static void checkNames(Path file) {
    var madeFor = PlanFiles.read(file).madeFor();
    madeFor.model().filter(name -> !isNetwork(name)).ifPresent(name -> refuse(file, "model", name));
    madeFor.cluster().ifPresent(ClusterNames::checkNamed);
  }

  private static boolean isNetwork(String name) {
    return NetworkNames.zooModel(name).isPresent()
        || NetworkNames.namedTransformer(name).isPresent();
  }

  private static void refuse(Path file, String what, String name) {
    throw BadInputException.in(
        file,
        "its %s '%s' is no name of the zoo, and files are not read from here; check it with the command line"
            .formatted(what, name));
  }

  private static Inspection inspection(
      String name, String kind, CommandRun run, Map<String, byte[]> files, List<String> next) {
    String answer = run.answer();
    return new Inspection(
        name,
        kind,
        run.status() == 0,
        answer.length() > MOST_LETTERS ? answer.substring(0, MOST_LETTERS) + "…" : answer,
        run.remarks().lines().toList(),
        files,
        run.status() == CommandRun.WRONG_INPUT ? List.of() : next);
  }

  private static Inspection refused(Upload upload, String sentence) {
    return new Inspection(
        upload.name(), "not read", false, "", List.of(sentence), Map.of(), List.of());
  }
}
