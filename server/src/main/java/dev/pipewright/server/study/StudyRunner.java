package dev.pipewright.server.study;

import dev.pipewright.app.cli.CommandLineProgram;
import dev.pipewright.server.store.KeptStudy;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * Answers a study with the command line's own program, in this process: an answer is what {@code
 * --json} prints, to the byte. One thread at a time.
 */
final class StudyRunner {
  /** What came of a run. */
  sealed interface Result {
    record Answered(KeptStudy study, Map<String, byte[]> files) implements Result {}

    /** A user's mistake. */
    record Refused(String sentence) implements Result {}

    record Failed(String sentence) implements Result {}
  }

  private final CommandLineProgram program = new CommandLineProgram();

  /** Pipewright's version. */
  static String version() {
    StringWriter version = new StringWriter();
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    new CommandLineProgram().run(new PrintWriter(version), nowhere, "--version");
    return version.toString().strip();
  }

  Result run(String id, StudyRequest request, String version, BooleanSupplier cancelled)
      throws IOException {
    List<String> command = request.command();
    if (request.network().isEmpty()) {
      return run(id, command, command, version, cancelled);
    }
    UploadedNetwork network = request.network().get();
    return network.lend(path -> {
      List<String> words = new ArrayList<>(command);
      words.set(words.indexOf(network.name()), path);
      return named(run(id, command, words, version, cancelled), network, path);
    });
  }

  /** What came of a run with the name of a file for the path of its copy. */
  private static Result named(Result result, UploadedNetwork network, String path) {
    return switch (result) {
      case Result.Answered(KeptStudy study, Map<String, byte[]> files) -> {
        Map<String, byte[]> kept = new TreeMap<>(files);
        kept.replaceAll((name, content) -> network.named(content, path));
        network.keep(kept);
        KeptStudy named =
            study.with(network.named(study.answer(), path), network.named(study.remarks(), path));
        yield new Result.Answered(named, kept);
      }
      case Result.Refused(String sentence) -> new Result.Refused(network.named(sentence, path));
      case Result.Failed(String sentence) -> new Result.Failed(network.named(sentence, path));
    };
  }

  private Result run(
      String id,
      List<String> command,
      List<String> words,
      String version,
      BooleanSupplier cancelled)
      throws IOException {
    Path folder = Files.createTempDirectory("pipewright-study-");
    try {
      List<String> whole = new ArrayList<>(words);
      whole.addAll(List.of("--out", folder.resolve("out").toString()));
      CommandRun run = CommandRun.of(program, cancelled, whole);
      String remarks = run.remarks();
      if (run.status() == CommandRun.WRONG_INPUT) {
        return new Result.Refused(remarks);
      }
      if (run.status() > CommandRun.WRONG_INPUT) {
        return new Result.Failed(remarks);
      }
      boolean ended = remarks.contains("the search was ended early");
      KeptStudy study =
          new KeptStudy(
              id,
              command,
              version,
              Instant.now(),
              ended,
              Headline.of(run.answer()),
              run.answer(),
              remarks);
      return new Result.Answered(study, CommandRun.files(folder.resolve("out")));
    } finally {
      CommandRun.delete(folder);
    }
  }
}
