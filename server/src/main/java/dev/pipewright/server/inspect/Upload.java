package dev.pipewright.server.inspect;

import dev.pipewright.app.report.page.Markup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file that a browser sent. Its name is only ever shown; on disk it has one of ours.
 *
 * @param name without folders and invisible characters, at most 100 characters
 */
public record Upload(String name, byte[] content) {
  /** What its name on our disk begins with, which no answer has otherwise. */
  static final String STEM = "uploaded-file";

  private static final int LONGEST = 100;
  private static final int CUT = 24; // characters in pictures
  private static final Pattern FOLDERS = Pattern.compile("^.*[/\\\\]", Pattern.DOTALL);
  private static final Pattern INVISIBLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]*");
  private static final Pattern ENDING =
      Pattern.compile("[.](json|csv|tsv|txt|log|yaml|yml|toml|net|plat|gz)$");

  public Upload {
    name = INVISIBLE.matcher(FOLDERS.matcher(name).replaceFirst("")).replaceAll("").strip();
    name = name.length() > LONGEST ? name.substring(0, LONGEST) : name;
    name = name.isEmpty() ? "file" : name;
  }

  /** Its name on our disk, by whose ending some readers go. */
  String stored() {
    Matcher ending = ENDING.matcher(name);
    return STEM + (ending.find() ? ending.group() : "");
  }

  /** A text of our commands with the user's name for ours. */
  String named(String text, Path file) {
    return text.replace(file.toString(), name).replace(STEM, ENDING.matcher(name).replaceFirst(""));
  }

  /** A picture of our commands with the user's name, cut to fit and escaped, for ours. */
  byte[] named(byte[] svg) {
    String shown = Markup.of(name.length() > CUT ? name.substring(0, CUT) + "…" : name);
    return new String(svg, StandardCharsets.UTF_8)
        .replace(stored(), shown)
        .getBytes(StandardCharsets.UTF_8);
  }

  /** The name as a word of a POSIX shell, which no command takes for a flag. */
  String quoted() {
    return PLAIN.matcher(name).matches() ? name : "'./" + name.replace("'", "'\\''") + "'";
  }
}
