package dev.pipewright.bench.fuzz;

import dev.pipewright.app.cli.Main;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/** Runs command lines in this process and says what is wrong with an answer. */
final class Runner implements AutoCloseable {
  /** Far more than any answer takes, also on a machine that does other things. */
  private static final int SECONDS = 60;

  private static final Pattern NOT_FINITE = Pattern.compile("\\bNaN\\b|(?<![-\\w])Infinity\\b");

  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(run -> {
        Thread daemon = new Thread(null, run, "fuzz", 16L << 20);
        daemon.setDaemon(true); // so that one that hangs keeps nothing
        return daemon;
      });

  private final InputStream input = System.in;

  /** Until it is closed, standard input is empty: that of a test run may never end. */
  Runner() {
    System.setIn(InputStream.nullInputStream());
  }

  /** An answer: the status and both streams. */
  record Answer(int status, String out, String err) {}

  /** Empty where it hangs. */
  Optional<Answer> run(List<String> arguments) {
    Future<Answer> answer = thread.submit(() -> answer(arguments));
    try {
      return Optional.of(answer.get(SECONDS, TimeUnit.SECONDS));
    } catch (TimeoutException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (ExecutionException e) {
      return Optional.of(new Answer(3, "", "escaped: " + e.getCause()));
    }
  }

  private static Answer answer(List<String> arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        Main.run(new PrintWriter(out), new PrintWriter(err), arguments.toArray(String[]::new));
    return new Answer(status, out.toString(), err.toString());
  }

  /**
   * What is wrong with an answer.
   *
   * @param file whose name a refusal has to give; empty where flags are to blame
   */
  static List<String> faults(Answer answer, String file, boolean line) {
    List<String> faults = new ArrayList<>();
    if (answer.status() < 0 || answer.status() > 2) {
      faults.add("status " + answer.status());
    }
    if (answer.err().contains("\tat ") || answer.err().contains("Exception")) {
      faults.add("shows a class of Java");
    }
    if (answer.status() == 0 && NOT_FINITE.matcher(answer.out()).find()) {
      faults.add("shows a number that is none");
    }
    if (answer.status() == 2) {
      List<String> said =
          answer.err().lines().filter(text -> text.startsWith("pipewright: ")).toList();
      if (said.isEmpty()) {
        faults.add("refuses without a sentence");
      } else if (said.stream().anyMatch(text -> text.startsWith("pipewright: --"))) {
        return faults; // a flag is to blame
      } else if (said.stream().anyMatch(text -> text.contains(file))) {
        String at = ".*" + Pattern.quote(file) + ":\\d+.*";
        if (line && said.stream().noneMatch(text -> text.matches(at))) {
          faults.add("names no line");
        }
      } else if (said.stream().noneMatch(text -> text.contains("/seeds/"))) { // which a plan names
        faults.add("names no file");
      }
    }
    return faults;
  }

  @Override
  public void close() {
    System.setIn(input);
    thread.shutdownNow();
  }
}
