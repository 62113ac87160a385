package dev.pipewright.formats.cluster;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** What readers of measured collectives know in common. */
public final class TimingWords {
  /** How options and tables spell what is exchanged. */
  public static final Map<String, Kind> KINDS = EnumWords.of(Kind.values());

  static final String FORMATS =
      "expected times as nccl-tests or the OSU micro-benchmarks print them, or a CSV with the"
          + " columns devices, bytes and seconds, time_us or time_ns";

  private TimingWords() {}

  static BadInputException refusal(Path file, LeftOut reason) {
    return BadInputException.at(file, reason.line(), reason.why() + "; " + reason.remedy());
  }

  /** Letters only, small. */
  static String letters(String text) {
    return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "");
  }
}
