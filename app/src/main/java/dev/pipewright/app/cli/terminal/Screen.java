package dev.pipewright.app.cli.terminal;

import dev.pipewright.app.report.text.Escapes;
import dev.pipewright.app.report.text.TextWidth;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What people read: standard output or error. Names from files are shown and never obeyed: control
 * characters, escape sequences of terminals and marks that turn the direction of writing appear as
 * {@code \}{@code u001b}, which is also how JSON writes them. Only our own colours pass.
 *
 * <p>A status line shows what is going on until something else is printed.
 */
public final class Screen extends PrintWriter {
  private final Shown shown;

  private Screen(Shown shown) {
    super(shown, true);
    this.shown = shown;
  }

  /** Standard output. */
  public static Screen of(Writer to, boolean colours) {
    return new Screen(new Shown(to, colours, null));
  }

  /** Standard error, in the order of what was printed to standard output before. */
  public static Screen after(Screen output, Writer to, boolean colours) {
    Screen errors = new Screen(new Shown(to, colours, output));
    output.shown.status = errors.shown;
    return errors;
  }

  /** Shows a line in place of the last status; colours and all, as nothing foreign is in it. */
  public void status(String line) {
    shown.status(line);
  }

  /** Takes the status line away. */
  void clear() {
    try {
      shown.clear();
    } catch (IOException e) {
      setError(); // the terminal is gone
    }
  }

  /** Escapes what is printed on its way out. */
  private static final class Shown extends Writer {
    private static final Pattern COLOUR = Pattern.compile("\u001b\\[(0|1|2|3[1-7]|9[0-7])m");

    private final Writer to;
    private final boolean colours;
    private final @Nullable Screen before;
    private Shown status = this; // whose status line is in the way
    private boolean open;
    private boolean ended;

    Shown(Writer to, boolean colours, @Nullable Screen before) {
      this.to = to;
      this.colours = colours;
      this.before = before;
    }

    @Override
    public void write(char[] letters, int from, int count) throws IOException {
      if (before != null) {
        before.flush();
      }
      status.clear();
      status.ended |= before == null; // the answer has begun
      String text = escaped(new String(letters, from, count));
      to.write(before != null && Terminal.showsProgress() ? wrapped(text) : text);
    }

    /** Sentences on a terminal, so that it does not break them within words. */
    private static String wrapped(String text) {
      if (TextWidth.of(text) <= Terminal.columns()
          || text.contains("\n")
          || text.contains("\u001b")) {
        return text;
      }
      return TextWidth.sentence(text, Terminal.columns()).stripTrailing();
    }

    private String escaped(String text) {
      int next = 0;
      while (next < text.length() && isPlain(text, next)) {
        next++;
      }
      if (next == text.length()) {
        return text; // nearly always
      }
      StringBuilder out = new StringBuilder(text.length() + 16).append(text, 0, next);
      Matcher colour = COLOUR.matcher(text);
      while (next < text.length()) {
        if (isPlain(text, next)) {
          out.append(text.charAt(next++));
        } else if (colours && colour.region(next, text.length()).lookingAt()) {
          out.append(colour.group());
          next = colour.end();
        } else {
          Escapes.append(out, text.charAt(next++));
        }
      }
      return out.toString();
    }

    private static boolean isPlain(String text, int at) {
      char letter = text.charAt(at);
      boolean lineEnd =
          letter == '\n'
              || (letter == '\r' && at + 1 < text.length() && text.charAt(at + 1) == '\n');
      return lineEnd || letter == '\t' || !Escapes.isControl(letter);
    }

    synchronized void status(String line) {
      if (ended) {
        return;
      }
      try {
        to.write("\r\u001b[K" + line);
        to.flush();
        open = true;
      } catch (IOException e) {
        open = false; // the terminal is gone
      }
    }

    private synchronized void clear() throws IOException {
      if (open) {
        open = false;
        to.write("\r\u001b[K");
        to.flush();
      }
    }

    @Override
    public void flush() throws IOException {
      to.flush();
    }

    @Override
    public void close() throws IOException {
      to.close();
    }
  }
}
