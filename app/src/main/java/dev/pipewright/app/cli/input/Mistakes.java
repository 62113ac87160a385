package dev.pipewright.app.cli.input;

import dev.pipewright.formats.file.BadInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** What is wrong with a command line: all of it at once, a sentence for each mistake. */
public final class Mistakes {
  private final List<String> sentences = new ArrayList<>();
  private final List<Exception> failures = new ArrayList<>();

  /** A command that can say what is wrong with its arguments before it does any work. */
  public interface Checked {
    /** Adds what is wrong; what the command line does not give is left to the command. */
    void check(Mistakes found);
  }

  /** Adds a sentence. */
  public void add(String sentence) {
    sentences.add(sentence);
  }

  /** Adds what is wrong where a check fails, unless one of that name is known already. */
  public void of(String subject, Runnable check) {
    if (mentions(subject)) {
      return;
    }
    try {
      check.run();
    } catch (BadInputException e) {
      failed(e);
      add(String.valueOf(e.getMessage()));
    }
  }

  /** Remembers what failed. */
  public void failed(Exception failure) {
    failures.add(failure);
  }

  /** What failed, for those who look for the place in the program. */
  public List<Exception> failures() {
    return List.copyOf(failures);
  }

  /** Whether a sentence is about an option or argument, or suggests it. */
  public boolean mentions(String subject) {
    Pattern word = Pattern.compile(Pattern.quote(subject) + "(?![-\\w])");
    return sentences.stream().anyMatch(sentence -> word.matcher(sentence).find());
  }

  public List<String> sentences() {
    return List.copyOf(sentences);
  }
}
