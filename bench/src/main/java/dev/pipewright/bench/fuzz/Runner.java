package dev.pipewright.bench.fuzz;

import com.sun.management.ThreadMXBean;
import dev.pipewright.app.cli.CommandLineProgram;
import dev.pipewright.bench.fuzz.Campaign.Finding;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/** Runs cases in this process and says what is wrong with an answer. */
final class Runner implements AutoCloseable {
  /** Of its thread's processor: far more than any answer takes. */
  private static final long COMPUTING_SECONDS = 60;

  /** In a row in which its thread does not compute at all: it waits for something. */
  private static final int IDLE_SECONDS = 60;

  /** Of Java's memory that reading data or a message may take in all. */
  private static final long MOST_BYTES = 256L << 20;

  private static final Pattern NOT_FINITE =
      Pattern.compile("\\bNaN\\b|(?<![-\\w])Infinity\\b(?!-)");
  private static final ThreadMXBean CLOCK = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Answering answering = new Answering();
  private final InputStream input = System.in;

  /** Until it is closed, standard input is empty: that of a test run may never end. */
  Runner() {
    System.setIn(InputStream.nullInputStream());
  }

  /** An answer: the status and both streams. */
  record Answer(int status, String out, String err) {}

  /** A thread that answers, and the command line that it has built. */
  private static final class Answering {
    private final AtomicReference<Thread> thread = new AtomicReference<>();
    private final ExecutorService executor =
        Executors.newSingleThreadExecutor(run -> {
          Thread daemon = new Thread(null, run, "fuzz", 16L << 20);
          daemon.setDaemon(true); // so that one that hangs keeps nothing
          thread.set(daemon);
          return daemon;
        });
    private final CommandLineProgram program = new CommandLineProgram();

    private long nanoseconds() {
      return CLOCK.getThreadCpuTime(thread.get().threadId());
    }
  }

  private static Answer answer(CommandLineProgram program, List<String> arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        program.run(new PrintWriter(out), new PrintWriter(err), arguments.toArray(String[]::new));
    return new Answer(status, out.toString(), err.toString());
  }

  /** Runs a command line and judges the answer, as {@link #faults}. */
  Optional<Finding> judged(
      String target, int number, List<String> command, String file, boolean line) {
    Optional<Answer> answer = run(program -> answer(program, command));
    List<String> faults = answer.map(it -> faults(it, file, line)).orElse(List.of("hangs"));
    return faults.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Finding(target, number, command, faults, answer.map(Answer::err).orElse("")));
  }

  /** Does something that ends well unless it finds a fault. */
  interface Deed {
    void run() throws Exception;
  }

  /** Has a deed done; anything that it throws, more memory than allowed and a hang are faults. */
  Optional<Finding> judged(String target, int number, String what, Deed deed) {
    Optional<Answer> answer =
        run(program -> {
          long before = CLOCK.getCurrentThreadAllocatedBytes();
          deed.run();
          long bytes = CLOCK.getCurrentThreadAllocatedBytes() - before;
          if (bytes > MOST_BYTES) {
            throw new IllegalStateException("takes " + bytes + " bytes of memory");
          }
          return new Answer(0, "", "");
        });
    String fault = answer.map(Answer::err).orElse("hangs");
    return fault.isEmpty()
        ? Optional.empty()
        : Optional.of(new Finding(target, number, List.of(what), List.of("fails"), fault));
  }

  private interface Work {
    Answer with(CommandLineProgram program) throws Exception;
  }

  /**
   * Empty where it hangs; no clock on the wall decides that, as the machine may do other things.
   */
  private Optional<Answer> run(Work work) {
    Answering one = answering;
    Future<Answer> answer = one.executor.submit(() -> work.with(one.program));
    long begin = one.nanoseconds();
    long computed = begin;
    for (int idle = 0; idle < IDLE_SECONDS; ) {
      try {
        return Optional.of(answer.get(1, TimeUnit.SECONDS));
      } catch (TimeoutException e) {
        long now = one.nanoseconds();
        idle = now == computed ? idle + 1 : 0;
        computed = now;
        if (TimeUnit.NANOSECONDS.toSeconds(now - begin) >= COMPUTING_SECONDS) {
          break;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      } catch (ExecutionException e) {
        return Optional.of(new Answer(3, "", "escaped: " + e.getCause()));
      }
    }
    one.executor.shutdownNow();
    answering = new Answering();
    return Optional.empty();
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
    answering.executor.shutdownNow();
  }
}
