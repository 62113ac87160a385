package dev.pipewright.app.cli.terminal;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Says on a terminal what takes so long, from two seconds on, in a line that goes with the answer.
 */
public final class Progress {
  private static final int PATIENCE = 2; // seconds without a word

  /** What commands do, as far as they do not say so themselves. */
  private static final Map<String, String> WORDS =
      Map.of(
          "plan", "planning; Ctrl-C ends the search with the best plan so far",
          "predict", "predicting",
          "simulate", "simulating",
          "schedule", "making the schedule",
          "check", "checking",
          "calibrate", "fitting links",
          "compare", "running the plan",
          "cyclic-memory", "adding memory up",
          "models", "building networks");

  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "progress");
        thread.setDaemon(true);
        return thread;
      });
  private final Screen to;
  private final String words;
  private int seconds;

  private Progress(Screen to, String words) {
    this.to = to;
    this.words = words;
  }

  /** Starts to count for a command; nothing where there is no terminal or it says so itself. */
  static @Nullable Progress of(String command, PrintWriter errors) {
    String words = WORDS.get(command);
    if (words == null || !Terminal.showsProgress() || !(errors instanceof Screen screen)) {
      return null;
    }
    Progress progress = new Progress(screen, words);
    Future<?> unused = progress.clock.scheduleAtFixedRate(progress::tick, 1, 1, TimeUnit.SECONDS);
    return progress;
  }

  private void tick() {
    seconds++;
    if (seconds >= PATIENCE) {
      to.status(line(words, seconds, Terminal.columns()));
    }
  }

  /** {@code planning … 12 s}, with what else there is to say where it fits. */
  public static String line(String words, int seconds, int columns) {
    String time =
        seconds < 60
            ? seconds + " s"
            : String.format(Locale.ROOT, "%d:%02d min", seconds / 60, seconds % 60);
    int cut = words.indexOf(';');
    String first = cut < 0 ? words : words.substring(0, cut);
    String all = first + " … " + time + (cut < 0 ? "" : words.substring(cut));
    return all.length() < columns ? all : first + " … " + time;
  }

  /** There is an answer. */
  void close() {
    clock.shutdownNow();
    to.clear();
  }
}
