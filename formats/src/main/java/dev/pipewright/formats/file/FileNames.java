package dev.pipewright.formats.file;

import java.io.File;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Words that may name a file. */
public final class FileNames {
  private static final Pattern FILE_NAME =
      Pattern.compile(
          ".+\\.(json|ya?ml|toml|txt|csv|tsv|net|net_sc|plat|gz|log|out|pyt?|onnx|safetensors|svg)",
          Pattern.CASE_INSENSITIVE);

  private FileNames() {}

  /** Whether a word can only mean a file: it has a slash, or ends as files do. */
  public static boolean isPath(String text) {
    return text.contains("/") || text.contains(File.separator) || FILE_NAME.matcher(text).matches();
  }

  /** Says that there is no such file where a word can only mean one. */
  public static void requireNoPath(String what, String text) {
    if (isPath(text)) {
      throw new BadInputException(text + ": no such file; give the path of a " + what + " file");
    }
  }

  /** The file that {@code what} names. */
  public static Path file(String what, String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new BadInputException(what + " " + noPath(text));
    }
  }

  /** What is wrong with a text that is no path. */
  public static String noPath(String text) {
    return text.isEmpty()
        ? "is empty; give a path"
        : "'"
            + text
            + "' cannot be the name of a file here; use plain characters, or a locale that has"
            + " these, like LC_ALL=C.UTF-8";
  }
}
