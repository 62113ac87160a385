package dev.pipewright.formats.trace;

import java.util.Locale;

/** Bytes of an element of a tensor, by its type as PyTorch and NCCL write it. */
final class ElementBytes {
  private static final int USUAL = 4;

  private ElementBytes() {}

  /** Four where the type is not known. */
  static int of(String type) {
    String word = type.toLowerCase(Locale.ROOT);
    if (word.contains("double") || word.contains("long") || word.contains("64")) {
      return 8;
    }
    if (word.contains("half") || word.contains("bfloat16") || word.contains("float16")) {
      return 2;
    }
    if (word.contains("char")
        || word.contains("byte")
        || word.contains("bool")
        || word.contains("int8")
        || word.contains("float8")) {
      return 1;
    }
    return USUAL;
  }
}
